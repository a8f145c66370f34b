package webfetch

// tidyMarkdown tidies what a converter wrote: no trailing blanks, one empty line at most in a row, narrow table rows.
// Fenced code is untouched.
func tidyMarkdown(md string) string { panic("skeleton") }
