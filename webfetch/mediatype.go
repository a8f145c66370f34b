package webfetch

// parseContentType reads the Content-Type headers of a response, in the order they came. The last well-formed one
// counts. mediaType is lower case, token/token of at most 100 characters, or "" where none is usable; charset is the
// label of its first non-empty charset parameter, lower case, unquoted, or "".
func parseContentType(values []string) (mediaType, charset string) { panic("skeleton") }
