// This file refuses what names no protocol version and no session that it could belong to, and says how to go on. The
// library answers some of it with success, an error without a code, or plain text.
package mcpserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// unknownVersion refuses a request in a version that there is not, and names those that there are, as the newest
// version has it. A version that the message itself contradicts is the library's to refuse.
func unknownVersion(version string, m message) *refusal {
	supported := mcp.SupportedProtocolVersions()
	if version == "" || slices.Contains(supported, version) || m.revision != "" && m.revision != version || !m.isCall() && m.method != batchMethod {
		return nil
	}
	version = clean(version, 80)
	r := malformed("protocol version %s is not served here; there are %s", printable(version, 80), strings.Join(supported, ", "))
	r.code, r.id = mcp.CodeUnsupportedProtocolVersion, m.id
	r.supported, r.requested = supported, version
	return r
}

// needsSession says whether one of the messages is a request that a legacy client may send in a session only.
func needsSession(messages []message) bool {
	return slices.ContainsFunc(messages, func(m message) bool {
		return m.isCall() && m.method != "initialize" && m.method != "ping"
	})
}

// adrift answers a request that is in no session and names no version that has none.
func adrift(m message) *refusal {
	return &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, word: "invalid_request", id: m.id,
		text: "the request has no session: send initialize first, then the header " + sessionHeader + " that it answers with; or speak " + modernEra +
			", which has none: headers MCP-Protocol-Version: " + modernEra + " and Mcp-Method, and that version and the client's capabilities in params._meta"}
}

// coded gives a JSON-RPC error that the library answers with by itself, such as for an id that is in use, the code that ours
// have. What is no such error, and one that has data, stays as it is.
func coded(said []byte, requestID string) []byte {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *struct {
			Code    int64           `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(said, &m) != nil || m.Error == nil || m.Error.Data != nil {
		return said
	}
	word := "invalid_request"
	switch m.Error.Code {
	case jsonrpc.CodeMethodNotFound:
		word = "not_found"
	case jsonrpc.CodeInternalError:
		word = "internal_error"
	}
	if strings.HasPrefix(m.Error.Message, idInUse) {
		m.Error.Message = "another request with this id is not answered yet"
	}
	data, err := json.Marshal((&refusal{code: m.Error.Code, text: m.Error.Message, word: word, id: m.ID}).wire(requestID))
	if err != nil { // strings and numbers only: cannot be
		return said
	}
	return data
}

// idInUse is how the library begins to say that a request of the session has the id already.
const idInUse = "duplicate in-flight request ID"

// plainly is what the library said in plain text, in the shape of every other refusal before JSON-RPC.
func plainly(status int, said []byte, requestID string) []byte {
	word := "invalid_request"
	switch {
	case status == http.StatusNotFound:
		word = "not_found"
	case status == http.StatusRequestEntityTooLarge:
		word = "too_large"
	case status >= http.StatusInternalServerError:
		word = "internal_error"
	}
	data, err := json.Marshal(problem{word, strings.TrimSpace(string(said)), requestID})
	if err != nil { // strings only: cannot be
		return nil
	}
	return data
}
