package pack

// XML parts, as streams of elements. No entity of a document's own is resolved: declarations of them are refused, because a
// document that has them is after something.

import (
	"errors"
	"io"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
)

// Kind tells what a token is.
type Kind int

// Kinds of tokens.
const (
	End   Kind = iota // the end of an element, or of the part where Depth is 0
	Start             // the start of an element
	Chars             // characters between elements
)

// XML reads one part. Its elements have local names: which namespace they are of is left to the reader's knowledge of the
// format, since producers differ in versions of the same namespace.
type XML struct {
	in    scanner
	part  string
	depth int
	max   int

	// The present token.
	Kind Kind
	Name string // of the element, local
	Text string // of characters; long ones may come in several pieces
}

// NewXML begins to read a part; name is for messages.
func NewXML(name string, data []byte, limits document.Limits) *XML {
	return &XML{in: scanner{buf: data, end: len(data)}, part: name, max: limits.WithDefaults().Depth}
}

// Next reads a token: Start, End or Chars. At the end of the part it gives io.EOF. Reasons: Damaged, Entities, TooDeep, and those of
// unpacking.
func (x *XML) Next() error {
	kind, name, text, err := x.in.token()
	switch {
	case errors.Is(err, io.EOF) && x.depth == 0:
		return io.EOF
	case err != nil:
		var known *document.Error
		if errors.As(err, &known) {
			return document.Fail(known.Reason, "part %q", x.part)
		}
		return document.Fail(document.Damaged, "part %q: %v", x.part, err)
	}
	switch kind {
	case Start:
		if x.depth++; x.depth > x.max {
			return document.Fail(document.TooDeep, "part %q", x.part)
		}
	case End:
		if x.depth--; x.depth < 0 {
			return document.Fail(document.Damaged, "part %q: </%s> without its start", x.part, name)
		}
		x.in.attrs = x.in.attrs[:0]
	case Chars:
		x.Kind, x.Text = Chars, text
		return nil
	}
	x.Kind, x.Name, x.Text = kind, name, ""
	return nil
}

// Depth is how many elements are open; after Start it counts the one that started.
func (x *XML) Depth() int { return x.depth }

// Attr gives an attribute of the element that started, by local name; "" for none. Where two differ in their prefix
// only, the one without a prefix counts.
func (x *XML) Attr(local string) string {
	var found *attribute
	for i := range x.in.attrs {
		a := &x.in.attrs[i]
		if a.local != local {
			continue
		}
		if a.prefix == "" {
			return x.in.value(a)
		}
		if found == nil {
			found = a
		}
	}
	if found == nil {
		return ""
	}
	return x.in.value(found)
}

// AttrIn is Attr for one that has the prefix that is given, as in r:id.
func (x *XML) AttrIn(prefix, local string) string {
	for i := range x.in.attrs {
		if a := &x.in.attrs[i]; a.local == local && a.prefix == prefix {
			return x.in.value(a)
		}
	}
	return ""
}

// Has tells whether the element that started has an attribute.
func (x *XML) Has(local string) bool {
	for i := range x.in.attrs {
		if x.in.attrs[i].local == local {
			return true
		}
	}
	return false
}

// Skip reads up to the end of the element that started.
func (x *XML) Skip() error {
	for depth := x.depth; x.depth >= depth; {
		if err := x.unexpected(x.Next()); err != nil {
			return err
		}
	}
	return nil
}

// AllText gives all characters of the element that started, and reads up to its end.
func (x *XML) AllText() (string, error) { return x.TextUpTo(1 << 30) }

// TextUpTo is AllText for elements of whose characters no more than so many bytes are of use: what is beyond them, up to the size
// of a piece, may be missing.
func (x *XML) TextUpTo(most int) (string, error) {
	first := ""
	var b strings.Builder
	for depth := x.depth; x.depth >= depth; {
		if err := x.unexpected(x.Next()); err != nil {
			return "", err
		}
		switch {
		case x.Kind != Chars:
		case first == "" && b.Len() == 0:
			first = x.Text // most have this alone
		case b.Len() == 0 && len(first) <= most:
			b.WriteString(first)
			b.WriteString(x.Text)
		case b.Len() > 0 && b.Len() <= most:
			b.WriteString(x.Text)
		}
	}
	if b.Len() > 0 {
		return b.String(), nil
	}
	return first, nil
}

// Children calls visit for each element directly below the one that started; visit may read up to its end and need not.
func (x *XML) Children(visit func(name string) error) error {
	for inside := x.depth; ; {
		if err := x.unexpected(x.Next()); err != nil {
			return err
		}
		switch {
		case x.depth < inside:
			return nil
		case x.Kind == Start && x.depth == inside+1:
			if err := visit(x.Name); err != nil {
				return err
			}
			for x.depth > inside { // what visit left
				if err := x.unexpected(x.Next()); err != nil {
					return err
				}
			}
		}
	}
}

// Root reads up to the first element.
func (x *XML) Root() error {
	for {
		if err := x.unexpected(x.Next()); err != nil {
			return err
		}
		if x.Kind == Start {
			return nil
		}
	}
}

func (x *XML) unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return document.Fail(document.Damaged, "part %q ends early", x.part)
	}
	return err
}
