package webfetch

// NewWindow cuts the window of n characters at offset.
func NewWindow(p *Page, offset, n int) *Window { panic("skeleton") }

// NewByteWindow cuts the window at offset that holds as many characters as fit maxBytes of UTF-8.
func NewByteWindow(p *Page, offset, maxBytes int) *Window { panic("skeleton") }
