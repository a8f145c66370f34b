// This file keeps what goes out within its bounds, and puts ids into keys.
package observation

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/untrusted"
)

const (
	// MaxText is the most bytes of a result's text, wrapper and all: clients cut what is longer, in the middle.
	MaxText = 20_000
	// MaxStructured is the most bytes of a result's keys.
	MaxStructured = 4 << 10
)

// WithNote puts a note after the first line, and keeps the text within MaxText: what is left out at its end is said in
// the note.
func WithNote(text, note string) string {
	head, rest, more := strings.Cut(text, "\n")
	whole := head + "\n" + note
	if more {
		whole += "\n" + rest
	}
	if len(whole) <= MaxText {
		return whole
	}
	note += "; its end is left out"
	return cut(head+"\n"+note+"\n"+rest, MaxText)
}

// Fit keeps a text within MaxText. A text that is too long tells so in a note.
func Fit(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return WithNote(text, "note: provider_cut · more than "+strconv.Itoa(MaxText)+" bytes came")
}

// cut shortens a text at the end of its body, so that the wrapper stays closed.
func cut(text string, limit int) string {
	end := ""
	if strings.HasSuffix(text, "\n"+untrusted.CloseTag) {
		end = "\n" + untrusted.CloseTag
	}
	keep := min(limit, len(text)) - len(end)
	for keep > 0 && !utf8.RuneStart(text[keep]) {
		keep--
	}
	return text[:keep] + end
}

// IDs name a call in its keys.
type IDs struct{ Call, Run, Provider string }

// Keys puts ok and the ids in front of a result's keys and keeps them within MaxStructured.
func Keys(structured json.RawMessage, ok bool, ids IDs) json.RawMessage {
	out := members{{"ok", []byte(strconv.FormatBool(ok))}}
	for _, id := range []struct{ name, value string }{{"tool_call_id", ids.Call}, {"run_id", ids.Run}, {"provider", ids.Provider}} {
		if id.value != "" {
			out = append(out, member{id.name, quoted(id.value)})
		}
	}
	for _, m := range parse(structured) {
		if out.find(m.name) < 0 {
			out = append(out, m)
		}
	}
	for _, name := range []string{"redirects", "tabs", "notes"} {
		out = out.shorten(name)
	}
	for len(out) > 4 && out.size() > MaxStructured { // nothing that long is made by us; what a capability adds is not needed to go on
		out = out[:len(out)-1]
	}
	return out.json()
}

// member is one member of an object, in its place.
type member struct {
	name  string
	value json.RawMessage
}

type members []member

// parse reads an object's members in order; none where it is no object.
func parse(raw json.RawMessage) members {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var ms members
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		m := member{name: name.(string)} // Token gives nothing else for a name
		if err := d.Decode(&m.value); err != nil {
			return nil
		}
		ms = append(ms, m)
	}
	return ms
}

func (ms members) find(name string) int {
	for i, m := range ms {
		if m.name == name {
			return i
		}
	}
	return -1
}

// shorten leaves out the last parts of a list until all fits, and then says how many there were.
func (ms members) shorten(name string) members {
	i := ms.find(name)
	if i < 0 || ms.size() <= MaxStructured {
		return ms
	}
	var list []json.RawMessage
	if json.Unmarshal(ms[i].value, &list) != nil {
		return ms
	}
	total := len(list)
	out := append(members(nil), ms...)
	out = append(out, member{name + "_total", []byte(strconv.Itoa(total))})
	for len(list) > 0 && out.size() > MaxStructured {
		list = list[:len(list)-1]
		short, err := json.Marshal(list)
		if err != nil {
			return ms
		}
		out[i].value = short
	}
	return out
}

func (ms members) size() int { return len(ms.json()) }

func (ms members) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range ms {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string: cannot be
		return []byte(`""`)
	}
	return b
}
