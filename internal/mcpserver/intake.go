// This file reads one message whole and checks its shape before the protocol library sees it: bytes, depth, counts,
// members that stand twice or have the wrong type. It knows JSON-RPC and the outer members of MCP, not what a tool takes.
package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxDepth is how deep arrays and objects may nest: tool arguments are flat, and a client's _meta is not deep.
	maxDepth = 64
	// maxValues bounds the members and elements of one message.
	maxValues = 20_000
	// maxBatch bounds the messages of a batch, which only the 2025-03-26 revision knows.
	maxBatch = 32
	// maxDrain is how much of a message over the limit is read and thrown away so that its sender gets to read the
	// answer; a connection that is shut on a writing client gives it an error instead, and ends its session.
	maxDrain = 64 << 20
)

// message is one JSON-RPC message as far as the door looks into it.
type message struct {
	id     json.RawMessage // nil for none
	method string          // empty for a response
	tool   string          // tools/call: the name
	// revision is the protocol revision that a request of the newest era names in its _meta; empty for none.
	revision string
}

func (m message) isCall() bool { return m.method != "" && m.id != nil }

// refusal is an answer of the door itself: an HTTP status and a JSON-RPC error.
type refusal struct {
	status int
	code   int64           // JSON-RPC
	word   string          // one of our closed list, sent as data.code
	text   string          // names what is wrong and the way out
	id     json.RawMessage // of the refused message; nil where it is not known
	// supported and requested are set where the protocol version is what is wrong.
	supported []string
	requested string
}

func (r *refusal) Error() string { return r.text }

// wire is the refusal as JSON-RPC. requestID may be empty.
func (r *refusal) wire(requestID string) any {
	type data struct {
		Code      string   `json:"code"`
		RequestID string   `json:"request_id,omitempty"`
		Supported []string `json:"supported,omitempty"`
		Requested string   `json:"requested,omitempty"`
	}
	type wireError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
		Data    data   `json:"data"`
	}
	id := r.id
	if id == nil {
		id = json.RawMessage("null")
	}
	return struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   wireError       `json:"error"`
	}{"2.0", id, wireError{r.code, r.text, data{r.word, requestID, r.supported, r.requested}}}
}

func malformed(format string, args ...any) *refusal {
	return &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, word: "invalid_request", text: fmt.Sprintf(format, args...)}
}

func notJSON(format string, args ...any) *refusal {
	r := malformed(format, args...)
	r.code = jsonrpc.CodeParseError
	return r
}

// readBody reads at most limit bytes. Over the limit the refusal has the id of the request where it stands near the
// front, since some clients end their session over an answer that is not to a request of theirs.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, patience time.Duration) ([]byte, *refusal) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(patience))
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if int64(len(body)) > limit {
		_, err = io.CopyN(io.Discard, r.Body, maxDrain)
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		// The deadline stays, or net/http would wait for the rest before it answers.
		w.Header().Set("Connection", "close")
	} else {
		// net/http goes on reading to notice a client that leaves; a deadline left in place would look like one.
		_ = control.SetReadDeadline(time.Time{})
	}
	switch {
	case int64(len(body)) > limit:
		return nil, tooLarge(limit, body)
	case err != nil:
		return nil, malformed("the body did not arrive whole within %s", patience)
	case len(bytes.TrimSpace(body)) == 0:
		return nil, notJSON("the body is empty; POST one JSON-RPC message")
	}
	return body, nil
}

func tooLarge(limit int64, front []byte) *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, code: jsonrpc.CodeInvalidRequest, word: "too_large",
		text: fmt.Sprintf("the message is larger than %d bytes", limit), id: idNearFront(front)}
}

// idNearFront finds the id member of a message that is not there whole.
func idNearFront(front []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(front))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil
		}
		if key == "id" {
			if validID(value) {
				return value
			}
			return nil
		}
	}
	return nil
}

// inspect checks a body and gives its messages: one, or several where batch is true.
func inspect(body []byte) (messages []message, batch bool, refused *refusal) {
	if !utf8.Valid(body) {
		return nil, false, notJSON("the body is not UTF-8")
	}
	if refused := measure(body); refused != nil {
		return nil, false, refused
	}
	if !json.Valid(body) {
		return nil, false, notJSON("the body is not one JSON value")
	}
	if bytes.TrimSpace(body)[0] != '[' {
		m, refused := open(body)
		return []message{m}, false, refused
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, true, notJSON("the body is not one JSON value")
	}
	if len(parts) == 0 || len(parts) > maxBatch {
		return nil, true, malformed("a batch has 1 to %d messages, this one has %d", maxBatch, len(parts))
	}
	asked := make(map[string]bool)
	for _, part := range parts {
		m, refused := open(part)
		switch {
		case refused != nil:
			return nil, true, refused
		case m.method == "initialize":
			// It would open a session past the count of them.
			return nil, true, malformed("initialize stands alone, not in a batch")
		case m.isCall() && asked[sameID(m.id)]:
			return nil, true, malformed("two requests of the batch have the id %s; only one of them would be answered", printable(string(m.id), 40))
		}
		if m.isCall() {
			asked[sameID(m.id)] = true
		}
		messages = append(messages, m)
	}
	return messages, true, nil
}

// measure walks the bytes once, without building anything, and refuses what would be costly to build.
func measure(body []byte) *refusal {
	depth, values, quoted := 0, 1, false
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return malformed("the message nests deeper than %d", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		case c == ',':
			if values++; values > maxValues {
				return malformed("the message has more than %d values", maxValues)
			}
		}
	}
	return nil
}

// open reads the outer members of one message.
func open(raw json.RawMessage) (message, *refusal) {
	var m message
	members, err := unique(raw)
	if err != nil {
		return m, malformed("a message %s", err)
	}
	if id, ok := members["id"]; ok {
		if !validID(id) {
			return m, malformed("id is a string of at most %d bytes or a whole number of at most 53 bits", maxIDBytes)
		}
		m.id = id
	}
	fail := func(code int64, format string, args ...any) (message, *refusal) {
		r := malformed(format, args...)
		r.code, r.id = code, m.id
		return m, r
	}
	if string(members["jsonrpc"]) != `"2.0"` {
		return fail(jsonrpc.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	method, ok := members["method"]
	if !ok {
		if m.id == nil || (members["result"] == nil) == (members["error"] == nil) {
			return fail(jsonrpc.CodeInvalidRequest, "a message has a method, or an id and one of result and error")
		}
		return m, nil
	}
	if json.Unmarshal(method, &m.method) != nil || m.method == "" {
		return fail(jsonrpc.CodeInvalidRequest, "method is a string that is not empty")
	}
	params, ok := members["params"]
	if !ok {
		return m, nil
	}
	inner, err := unique(params)
	if err != nil {
		return fail(jsonrpc.CodeInvalidParams, "params %s", err)
	}
	for _, rule := range paramRules {
		if value, ok := inner[rule.name]; ok && !rule.holds(value) {
			return fail(jsonrpc.CodeInvalidParams, "params.%s is %s", rule.name, rule.want)
		}
	}
	if raw, ok := inner["_meta"]; ok {
		if _, err := unique(raw); err != nil {
			return fail(jsonrpc.CodeInvalidParams, "params._meta %s", err)
		}
	}
	var meta struct {
		Revision string `json:"io.modelcontextprotocol/protocolVersion"`
	}
	// A revision of another type is the library's to refuse.
	if json.Unmarshal(inner["_meta"], &meta) == nil {
		m.revision = meta.Revision
	}
	if m.method == "tools/call" {
		if json.Unmarshal(inner["name"], &m.tool) != nil {
			return fail(jsonrpc.CodeInvalidParams, "params.name is missing")
		}
	}
	return m, nil
}

// paramRules are the types of members that mean the same in every method. The library answers a wrong one with an error
// that has no code.
var paramRules = []struct {
	name, want string
	holds      func(json.RawMessage) bool
}{
	{"_meta", "an object", isObject},
	{"capabilities", "an object", isObject},
	{"clientInfo", "an object with name and version, which are strings", isImplementation},
	{"protocolVersion", "a string", isString},
	{"name", "a string", isString},
	{"cursor", "a string", isString},
	{"requestState", "a string", isString},
	{"inputResponses", "an object", isObject},
}

func isObject(v json.RawMessage) bool { return v[0] == '{' }
func isString(v json.RawMessage) bool { return v[0] == '"' }

func isImplementation(v json.RawMessage) bool {
	var who struct{ Name, Version, Title string }
	return isObject(v) && json.Unmarshal(v, &who) == nil
}

// unique gives the members of an object. The error is the end of a sentence that names the object.
func unique(raw json.RawMessage) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("is an object")
	}
	members := make(map[string]json.RawMessage)
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, errors.New("is an object")
		}
		key, _ := t.(string)
		if _, twice := members[key]; twice {
			return nil, fmt.Errorf("has the member %s twice", printable(key, 40))
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errors.New("is an object")
		}
		members[key] = value
	}
	return members, nil
}

// sameID is equal for ids that are one id, however they are spelled.
func sameID(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) != nil {
		return string(id)
	}
	return `"` + text
}

// maxID is the largest whole number that a JSON reader which counts in floating point, as the protocol library does,
// gives back as it came.
const maxID = 1<<53 - 1

// maxIDBytes bounds an id as it is written, with its quotes.
const maxIDBytes = 256

// validID says whether an id is one that MCP takes, a string or a whole number, and would come back as it was sent: a
// client does not know an answer to another id as its own.
func validID(raw json.RawMessage) bool {
	if len(raw) > maxIDBytes {
		return false
	}
	if raw[0] == '"' {
		var text string
		return json.Unmarshal(raw, &text) == nil && !strings.ContainsRune(text, utf8.RuneError) // half a surrogate pair
	}
	var n int64
	return json.Unmarshal(raw, &n) == nil && string(raw) != "null" && string(raw) != "-0" && -maxID <= n && n <= maxID
}
