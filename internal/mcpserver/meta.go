// This file reads what a client says beside a call's arguments: which run, which key, which approval.
package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/tool"
)

// Names in _meta, and the header that names the run.
const (
	metaRun      = "wayleave/run"
	metaCallID   = "wayleave/callId"
	metaApproval = "wayleave/approval"
	runHeader    = "Wayleave-Run"
)

// Bounds of what a client names.
const (
	minKey, maxKey = 8, 128
	maxNamed       = 128
)

// named puts what a client named into the caller. The error names what is wrong with it.
func named(c *tool.Caller, meta mcp.Meta, header http.Header) error {
	if err := misspelled(meta); err != nil {
		return err
	}
	for _, m := range []struct {
		name   string
		into   *string
		lo, hi int
	}{{metaRun, &c.Run, 1, maxNamed}, {metaCallID, &c.Key, minKey, maxKey}, {metaApproval, &c.Approval, 1, maxNamed}} {
		value, given := meta[m.name]
		if !given || value == nil {
			continue
		}
		text, ok := value.(string)
		if !ok || !fits(text, m.lo, m.hi) {
			return misnamed("_meta."+m.name, fmt.Sprintf("is a string of %d to %d printable ASCII characters", m.lo, m.hi))
		}
		*m.into = text
	}
	if run := header.Get(runHeader); run != "" {
		switch {
		case !fits(run, 1, maxNamed):
			return misnamed(runHeader, fmt.Sprintf("is 1 to %d printable ASCII characters", maxNamed))
		case c.Run != "" && c.Run != run:
			return misnamed(runHeader, "names another run than _meta."+metaRun)
		}
		c.Run = run
	}
	return nil
}

// misspelled finds a member that is one of ours in other letters. Passed over, it would leave a call without the key that
// its client relies on.
func misspelled(meta mcp.Meta) error {
	for given := range meta {
		plain := letters(given)
		for _, name := range []string{metaRun, metaCallID, metaApproval} {
			if given != name && plain == letters(name) {
				return misnamed("_meta."+name, "is written so, not "+printable(given, 40))
			}
		}
	}
	return nil
}

// letters is a name without what people write in several ways.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

func fits(text string, lo, hi int) bool {
	if len(text) < lo || len(text) > hi {
		return false
	}
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			return false
		}
	}
	return true
}

func misnamed(field, want string) error {
	data, err := json.Marshal(map[string]string{"code": "invalid_request", "field": field})
	if err != nil { // strings only: cannot be
		data = nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: field + " " + want, Data: data}
}
