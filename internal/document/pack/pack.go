// Package pack opens the containers that documents come in, ZIP archives of XML parts, so that no archive can cost more
// than its limits: what a part unpacks to is counted while it is unpacked, whatever its header says.
package pack

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
)

const (
	// maxParts is how many parts an archive may have. A book with a thousand sheets and their relations has some 2,000.
	maxParts = 20_000
)

// Archive is an open container. It is not safe for concurrent use.
type Archive struct {
	parts map[string]*zip.File // by name in lower case, without a leading slash
	names []string             // as they stand, in the archive's order
	left  int64                // bytes that may still be unpacked
}

// Open reads the directory of a container. Reasons: Damaged, TooLarge (too many parts), Encrypted (parts under a ZIP
// password).
func Open(body []byte, limits document.Limits) (*Archive, error) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, document.Fail(document.Damaged, "archive: %v", err)
	}
	if len(z.File) > maxParts {
		return nil, document.Fail(document.TooLarge, "%d parts", len(z.File))
	}
	a := &Archive{parts: make(map[string]*zip.File, len(z.File)), left: limits.WithDefaults().Unpacked}
	for _, f := range z.File {
		name := key(f.Name)
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		// Of two parts of one name the first counts: what others make of them must not depend on who reads.
		if _, twice := a.parts[name]; twice {
			continue
		}
		if f.Flags&1 != 0 {
			return nil, document.Fail(document.Encrypted, "part %q", f.Name)
		}
		a.parts[name] = f
		a.names = append(a.names, strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
	}
	return a, nil
}

func key(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

// Names gives the names of all parts in the archive's order.
func (a *Archive) Names() []string { return a.names }

// Has tells whether there is a part. Names are compared without regard to case, as Office does.
func (a *Archive) Has(name string) bool {
	_, ok := a.parts[key(name)]
	return ok
}

// Read unpacks a part. A part that is not there is an error that is fs.ErrNotExist. Reasons: Damaged, TooLarge,
// Unsupported (a method of packing that is not read).
func (a *Archive) Read(name string) ([]byte, error) {
	p, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer p.in.Close()
	// The header's size may lie. It is a bound for what is set aside, which grows with what there is.
	out := make([]byte, 0, min(p.size, 1<<20)+1)
	for {
		if len(out) == cap(out) {
			bigger := make([]byte, len(out), min(2*int64(cap(out)), p.size+1))
			copy(bigger, out)
			out = bigger
		}
		n, err := p.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
	}
}

// XML begins to read a part as XML, which is unpacked as it is read. Errors are as with Read; those of unpacking come from the
// reader.
func (a *Archive) XML(name string, limits document.Limits) (*XML, error) {
	p, err := a.open(name)
	if err != nil {
		return nil, err
	}
	return &XML{in: scanner{in: p}, part: name, max: limits.WithDefaults().Depth}, nil
}

// Stream begins to read a part, which is unpacked as it is read. Errors are as with Read; those of unpacking come from the reader.
func (a *Archive) Stream(name string) (io.Reader, error) {
	p, err := a.open(name)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// part is a part that is being unpacked, counted against what is left of the archive.
type part struct {
	name    string
	archive *Archive
	in      io.ReadCloser
	size    int64 // as its header says; what is more is damage
	done    int64
}

func (a *Archive) open(name string) (*part, error) {
	f, ok := a.parts[key(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if f.UncompressedSize64 > uint64(a.left) {
		a.left = 0
		return nil, document.Fail(document.TooLarge, "part %q", name)
	}
	r, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			return nil, document.Fail(document.Unsupported, "part %q is packed by method %d", name, f.Method)
		}
		return nil, document.Fail(document.Damaged, "part %q: %v", name, err)
	}
	return &part{name: name, archive: a, in: r, size: int64(f.UncompressedSize64)}, nil
}

// Read unpacks on. Reasons: Damaged, TooLarge.
func (p *part) Read(out []byte) (int, error) {
	n, err := p.in.Read(out)
	p.done += int64(n)
	p.archive.left -= int64(n)
	switch {
	case p.archive.left < 0:
		p.archive.left = 0
		return 0, document.Fail(document.TooLarge, "part %q", p.name)
	case p.done > p.size:
		return 0, document.Fail(document.Damaged, "part %q is longer than its header says", p.name)
	case err != nil && !errors.Is(err, io.EOF):
		return 0, document.Fail(document.Damaged, "part %q: %v", p.name, err)
	}
	return n, err
}

// Optional is Read for a part that need not be there: then it gives nil.
func (a *Archive) Optional(name string) ([]byte, error) {
	data, err := a.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
