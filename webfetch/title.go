package webfetch

// htmlTitle is the title of HTML source text (for FormatRaw, where no tree is built); "" for none.
func htmlTitle(src string) string { panic("skeleton") }

// markdownTitle is the first level-one heading of Markdown outside fences and front matter; "" for none.
func markdownTitle(src string) string { panic("skeleton") }

// clipTitle collapses white space and cuts a title at 500 characters.
func clipTitle(s string) string { panic("skeleton") }
