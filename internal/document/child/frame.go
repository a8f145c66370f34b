package child

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Kinds of frames.
const (
	frameHello  = 'H' // to the child, once: what it is to be
	frameReady  = 'Y' // from the child, once: it is that
	frameAsk    = 'Q' // to the child: a document
	frameAnswer = 'A' // from the child: what the document says, or why it cannot be read
)

// Bounds of a frame. A document is as large as a body may be; a text has its own limit, which the parent knows.
const (
	maxHead     = 1 << 20
	maxDocument = 100 << 20
	textMargin  = 1 << 20 // that a text may be longer than its limit, for its last block
)

var errFrame = errors.New("a frame that is none")

// writeFrame sends a head, as JSON, and the bytes that go with it.
func writeFrame(out io.Writer, kind byte, head any, body []byte) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if len(text) > maxHead || int64(len(body)) > 1<<32-1 {
		return fmt.Errorf("%w: %d and %d bytes", errFrame, len(text), len(body))
	}
	first := make([]byte, 9, 9+len(text))
	first[0] = kind
	binary.BigEndian.PutUint32(first[1:], uint32(len(text)))
	binary.BigEndian.PutUint32(first[5:], uint32(len(body)))
	if _, err := out.Write(append(first, text...)); err != nil {
		return err
	}
	_, err = out.Write(body)
	return err
}

// readFrame reads a frame of a kind. What it says of its size is believed as bytes come, and only up to most.
func readFrame(in io.Reader, kind byte, head any, most int) ([]byte, error) {
	var first [9]byte
	if _, err := io.ReadFull(in, first[:]); err != nil {
		return nil, err
	}
	heads, bodies := int64(binary.BigEndian.Uint32(first[1:])), int64(binary.BigEndian.Uint32(first[5:]))
	if first[0] != kind || heads > maxHead || bodies > int64(most) {
		return nil, fmt.Errorf("%w: %q, %d and %d bytes", errFrame, first[0], heads, bodies)
	}
	text, err := readExactly(in, heads)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(head); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	return readExactly(in, bodies)
}

func readExactly(in io.Reader, n int64) ([]byte, error) {
	const believed = 8 << 20 // set aside before a byte has come
	var b bytes.Buffer
	b.Grow(int(min(n, believed)))
	got, err := io.Copy(&b, io.LimitReader(in, n))
	if err == nil && got < n {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}
