package webfetch

// Render is the text that a model reads.
func Render(w *Window) string { panic("skeleton") }
