package hop

// Reading a body: undo its content codings, count, and stop at the limit. The limit counts decoded bytes, so that a
// compressed bomb costs what it is allowed to cost; coded bytes are counted too, since a coding can go on for ever
// without giving a single byte.

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxCodings bounds how often a body may be coded. Each decoder has a window of its own; nobody needs more than
	// two.
	maxCodings = 2
	// codedSlack is by how much the coded form of a body may be larger than its decoded form: framing of data that
	// does not compress.
	codedSlack = 64 << 10
	// Blocks of a body that is read begin small and double up to here.
	firstBlock = 8 << 10
	lastBlock  = 1 << 20
	// maxZstdWindow is what RFC 9659 allows for the content coding.
	maxZstdWindow = 8 << 20
)

// ErrTooLarge says that a body passed the limit. Nothing of it is kept.
var ErrTooLarge = errors.New("the body is larger than the limit")

const (
	UnknownCoding = Fault("the body is coded in a way that is not understood")
	ManyCodings   = Fault("the body is coded too many times over")
	BrokenCoding  = Fault("the coding of the body is broken")
)

// ReadBody reads the whole body of an answer, decoded, of at most limit bytes. The error is ErrTooLarge, or holds a Fault
// or what the connection gave.
func ReadBody(header http.Header, body io.Reader, limit int64) ([]byte, error) {
	return read(header, body, limit, readUpTo)
}

// ReadStart reads the first limit bytes of a body, decoded, or all of a shorter one. What follows is not read. The error
// is as of ReadBody.
func ReadStart(header http.Header, body io.Reader, limit int64) ([]byte, error) {
	return read(header, body, limit, func(r io.Reader, limit int64) ([]byte, error) {
		return readUpTo(io.LimitReader(r, limit), limit)
	})
}

func read(header http.Header, body io.Reader, limit int64, readUpTo func(io.Reader, int64) ([]byte, error)) ([]byte, error) {
	codings, err := contentCodings(header)
	if err != nil {
		return nil, err
	}
	if len(codings) == 0 {
		return readUpTo(body, limit)
	}
	source := &countedReader{r: body, left: limit + codedSlack}
	// A body of no bytes is empty whatever its coding: servers send the header with 304, and with nothing at all.
	coded := bufio.NewReader(source)
	if _, err := coded.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	decoded := io.Reader(coded)
	for i := len(codings) - 1; i >= 0; i-- {
		d, closeDecoder, err := decoder(codings[i], decoded)
		if err != nil {
			return nil, brokenCoding(source, err)
		}
		defer closeDecoder()
		decoded = d
	}
	content, err := readUpTo(decoded, limit)
	if err == nil || errors.Is(err, ErrTooLarge) {
		return content, err
	}
	return nil, brokenCoding(source, err)
}

// brokenCoding prefers what went wrong below the decoders to what they make of it.
func brokenCoding(source *countedReader, err error) error {
	if source.err != nil && !errors.Is(source.err, io.EOF) {
		return source.err
	}
	return fmt.Errorf("%w: %w", BrokenCoding, err)
}

// readUpTo reads to the end, or fails as soon as there is more than limit. It collects blocks and joins them at the end:
// a buffer that doubles would hold a body three times over by the time that it turns out to be too large.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	var blocks [][]byte
	var total int64
	block := make([]byte, 0, firstBlock)
	for {
		room := min(int64(cap(block)-len(block)), limit+1-total)
		n, err := r.Read(block[len(block):][:room])
		block = block[:len(block)+n]
		if total += int64(n); total > limit {
			return nil, ErrTooLarge
		}
		switch {
		case errors.Is(err, io.EOF) && len(blocks) == 0:
			return block, nil
		case errors.Is(err, io.EOF):
			return slices.Concat(append(blocks, block)...), nil
		case err != nil:
			return nil, cutShort(err)
		}
		if len(block) == cap(block) {
			blocks = append(blocks, block)
			block = make([]byte, 0, min(2*cap(block), lastBlock))
		}
	}
}

// contentCodings are the codings in the order in which they were applied.
func contentCodings(header http.Header) ([]string, error) {
	var codings []string
	for name := range strings.SplitSeq(strings.Join(header.Values("Content-Encoding"), ","), ",") {
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "", "identity":
		case "gzip", "x-gzip", "deflate", "br", "zstd":
			codings = append(codings, name)
		default:
			return nil, UnknownCoding
		}
	}
	if len(codings) > maxCodings {
		return nil, ManyCodings
	}
	return codings, nil
}

// decoder undoes one coding.
func decoder(coding string, r io.Reader) (io.Reader, func(), error) {
	nothing := func() {}
	switch coding {
	case "br":
		return brotli.NewReader(r), nothing, nil
	case "zstd":
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, nothing, err
		}
		return d, d.Close, nil
	case "deflate":
		return deflateReader(r)
	}
	m, err := newMembers(r)
	return m, nothing, err
}

// members reads what is coded as gzip: members one after the other, and what follows them that is none, such as a server's padding, is
// left alone, as browsers do.
type members struct {
	coded *bufio.Reader
	one   *gzip.Reader
}

func newMembers(r io.Reader) (*members, error) {
	m := &members{coded: bufio.NewReader(r)}
	var err error
	if m.one, err = gzip.NewReader(m.coded); err != nil {
		return nil, err
	}
	m.one.Multistream(false)
	return m, nil
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.one.Read(p)
		switch {
		case !errors.Is(err, io.EOF):
			return n, err
		case n > 0:
			return n, nil // it says again that it is at its end
		}
		if next, err := m.coded.Peek(3); !bytes.Equal(next, []byte{0x1F, 0x8B, 8}) {
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
			return 0, io.EOF
		}
		if err := m.one.Reset(m.coded); err != nil {
			return 0, err
		}
		m.one.Multistream(false)
	}
}

// deflateReader reads what servers send as deflate: zlib as the standard says, or the bare stream that many send.
func deflateReader(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReader(r)
	if start, err := b.Peek(2); err == nil && start[0]&0x0f == 8 && (int(start[0])<<8+int(start[1]))%31 == 0 {
		d, err := zlib.NewReader(b)
		return d, func() {}, err
	}
	return flate.NewReader(b), func() {}, nil
}

// countedReader gives at most left bytes, then ErrTooLarge, and remembers how it ended.
type countedReader struct {
	r    io.Reader
	left int64
	err  error
}

func (c *countedReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.err = ErrTooLarge
		return 0, ErrTooLarge
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.err = err
	return n, err
}
