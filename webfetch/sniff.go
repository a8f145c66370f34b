package webfetch

// sniff gives the media type by which a body is read. served and charset are what parseContentType gave. A usable
// served type is kept, but for download types, containers that hold a document of another type, and text/* bodies that
// are binary. It is never "".
func sniff(body []byte, served, charset string) string { panic("skeleton") }
