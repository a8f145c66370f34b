package charset

// appendBMP appends a character from U+0080 to U+FFFF that is no surrogate, which the indexes hold. It is
// utf8.AppendRune without the cases that cannot be, small enough to be inlined: the decoders' inner loops live on it.
func appendBMP(dst []byte, r uint16) []byte {
	if r < 0x800 {
		return append(dst, 0xC0|byte(r>>6), 0x80|byte(r)&0x3F)
	}
	return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}

// appendBroken appends U+FFFD, the standard's answer to bytes that mean nothing.
func appendBroken(dst []byte) []byte { return append(dst, "\uFFFD"...) }

// appendBrokenPair ends a two-byte sequence at i that means nothing. An ASCII trail byte is read again, so that a lead
// byte can never swallow markup.
func appendBrokenPair(dst []byte, trail byte, i int) ([]byte, int) {
	if trail < 0x80 {
		return appendBroken(dst), i + 1
	}
	return appendBroken(dst), i + 2
}
