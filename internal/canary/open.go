// This file opens what is compressed within bytes, wherever it begins.
package canary

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// mostOpened is the most bytes that are taken out of one member.
	mostOpened = 256 << 20
	// deepest is how often something compressed is opened within something compressed.
	deepest = 4
	// leastOpened is how many bytes a member must give to be one: beginnings of two bytes occur by chance.
	leastOpened = window
)

// member is a kind of compressed bytes.
type member struct {
	name  string
	magic []byte
	open  func(io.Reader) (io.ReadCloser, error)
}

func members() []member {
	deflate := func(r io.Reader) (io.ReadCloser, error) { return zlib.NewReader(r) }
	return []member{
		{"gzip", []byte{0x1f, 0x8b, 0x08}, func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
		{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd}, func(r io.Reader) (io.ReadCloser, error) {
			d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostOpened))
			if err != nil {
				return nil, err
			}
			return d.IOReadCloser(), nil
		}},
		{"zlib", []byte{0x78, 0x01}, deflate},
		{"zlib", []byte{0x78, 0x5e}, deflate},
		{"zlib", []byte{0x78, 0x9c}, deflate},
		{"zlib", []byte{0x78, 0xda}, deflate},
	}
}

// within looks into the members of b. A member that is cut off or damaged is looked at as far as it opens.
func (s *Scanner) within(b []byte, path string, depth int) []Hit {
	if depth == deepest {
		return nil
	}
	var hits []Hit
	for _, m := range members() {
		for from := 0; ; {
			i := bytes.Index(b[from:], m.magic)
			if i < 0 {
				break
			}
			i += from
			from = i + 1
			plain := m.take(b[i:])
			if len(plain) < leastOpened {
				continue
			}
			inside := fmt.Sprintf("%s%s at %d", path, m.name, i)
			for _, h := range s.layer(plain, false) {
				h.Inside = inside
				hits = append(hits, h)
			}
			hits = append(hits, s.within(plain, inside+", ", depth+1)...)
		}
	}
	return hits
}

func (m member) take(b []byte) []byte {
	r, err := m.open(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	defer r.Close()
	var plain bytes.Buffer
	_, _ = io.Copy(&plain, io.LimitReader(r, mostOpened)) // what came out before a fault is looked at
	return plain.Bytes()
}
