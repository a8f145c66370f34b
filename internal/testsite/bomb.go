package testsite

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// bombBytes is how much a bomb unpacks to: far beyond the default limits, and soon made.
const bombBytes = 32 << 20

// Encode gives text with the codings applied in order, as "gzip, br" in Content-Encoding says.
func Encode(text, codings string) string {
	var b bytes.Buffer
	w := encoder(&b, codings)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// Bomb is zeros in plenty with the codings applied in order. It is made in advance, so that the cost of making it is
// not taken for that of reading it.
func Bomb(codings string) string {
	var b bytes.Buffer
	e := encoder(&b, codings)
	zeros := make([]byte, 1<<20)
	for range bombBytes / len(zeros) {
		e.Write(zeros)
	}
	e.Close()
	return b.String()
}

// encoder applies codings in order; the last one writes to w.
func encoder(w io.Writer, codings string) io.WriteCloser {
	chain := &chained{WriteCloser: nopCloser{w}}
	names := strings.Split(codings, ",")
	for i := len(names) - 1; i >= 0; i-- {
		var e io.WriteCloser
		switch strings.TrimSpace(names[i]) {
		case "gzip", "x-gzip":
			e, _ = gzip.NewWriterLevel(chain.WriteCloser, gzip.BestSpeed)
		case "deflate":
			e, _ = zlib.NewWriterLevel(chain.WriteCloser, zlib.BestSpeed)
		case "raw-deflate":
			e, _ = flate.NewWriter(chain.WriteCloser, flate.BestSpeed)
		case "br":
			e = brotli.NewWriterOptions(chain.WriteCloser, brotli.WriterOptions{Quality: 1, LGWin: 24})
		case "zstd":
			e, _ = zstd.NewWriter(chain.WriteCloser, zstd.WithEncoderConcurrency(1))
		default:
			e = nopCloser{chain.WriteCloser}
		}
		chain = &chained{WriteCloser: e, below: chain}
	}
	return chain
}

// chained closes a coding and then those below it.
type chained struct {
	io.WriteCloser
	below *chained
}

func (c *chained) Close() error {
	err := c.WriteCloser.Close()
	if c.below != nil {
		c.below.Close()
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// emptyMember is a whole gzip stream of no bytes. Any number of them are one stream of no bytes.
func emptyMember() string { return Encode("", "gzip") }
