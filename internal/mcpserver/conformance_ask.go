//go:build conformance

// Fixtures of the conformance suite that ask the client something: by a request of their own in the older protocol
// era, by an unfinished result ("input required") in the newer one.

package mcpserver

//lint:file-ignore SA1019 the suite still asks for logging, sampling and roots, which newer revisions leave out

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func askingFixtures() []fixture {
	return []fixture{
		{"test_sampling", "Asks the client's model.",
			`{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"],"additionalProperties":false}`, sampling},
		{"test_elicitation", "Asks the client's user.",
			`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"],"additionalProperties":false}`, eliciting},
		{"test_elicitation_sep1034_defaults", "Asks with default values.", noArguments, elicitForm(defaultsForm)},
		{"test_elicitation_sep1330_enums", "Asks with every kind of choice.", noArguments, elicitForm(enumsForm)},

		{"test_input_required_result_elicitation", "Asks for a name.", noArguments, round(nil,
			question{"user_name", askUser("What is your name?", nameForm)})},
		{"test_streaming_elicitation", "Asks for a name.", noArguments, round(nil,
			question{"user_name", askUser("What is your name?", nameForm)})},
		{"test_input_required_result_sampling", "Asks a model.", noArguments, round(nil,
			question{"capital_question", askModel("What is the capital of France?", 100)})},
		{"test_input_required_result_list_roots", "Asks for the roots.", noArguments, round(nil,
			question{"client_roots", &mcp.ListRootsParams{}})},
		{"test_input_required_result_request_state", "Carries a state.", noArguments, round([]string{"confirm"},
			question{"confirm", askUser("Please confirm", confirmForm)})},
		{"test_input_required_result_tampered_state", "Refuses a changed state.", noArguments, round([]string{"confirm"},
			question{"confirm", askUser("Please confirm", confirmForm)})},
		{"test_input_required_result_multiple_inputs", "Asks three things at once.", noArguments, round([]string{"all"},
			question{"user_name", askUser("What is your name?", nameForm)},
			question{"greeting", askModel("Generate a greeting", 50)},
			question{"client_roots", &mcp.ListRootsParams{}})},
		{"test_input_required_result_multi_round", "Asks twice, one after the other.", noArguments, round([]string{"one", "two"},
			question{"step1", askUser("Step 1: What is your name?", nameForm)},
			question{"step2", askUser("Step 2: What is your favorite color?", colorForm)})},
		{"test_input_required_result_capabilities", "Asks only what the client can answer.", noArguments, asAble},
	}
}

const (
	nameForm    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	colorForm   = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`
	confirmForm = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	contextForm = `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`
	userForm    = `{"type":"object","properties":{"username":{"type":"string","description":"User's response"},
 "email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`
	defaultsForm = `{"type":"object","properties":{
 "name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
 "status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`
	enumsForm = `{"type":"object","properties":{
 "untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
 "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
 "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
 "untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
 "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`
)

func askUser(message, form string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(form)}
}

func askModel(prompt string, maxTokens int64) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: maxTokens, Messages: []*mcp.SamplingMessage{
		{Role: "user", Content: &mcp.TextContent{Text: prompt}}}}
}

// sampling, eliciting and elicitForm send a request of their own, as the older era does.
func sampling(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	res, err := req.Session.CreateMessage(ctx, askModel(in.Prompt, 100))
	if err != nil {
		return nil, err
	}
	return saying(&mcp.TextContent{Text: "LLM response: " + asJSON(res.Content)})(ctx, req)
}

func eliciting(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Message string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	res, err := req.Session.Elicit(ctx, askUser(in.Message, userForm))
	if err != nil {
		return nil, err
	}
	return saying(&mcp.TextContent{Text: "User response: " + asJSON(res)})(ctx, req)
}

func elicitForm(form string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := req.Session.Elicit(ctx, askUser("Please fill in", form))
		if err != nil {
			return nil, err
		}
		text := fmt.Sprintf("Elicitation completed: action=%s, content=%s", res.Action, asJSON(res.Content))
		return saying(&mcp.TextContent{Text: text})(ctx, req)
	}
}

// question is one thing that an unfinished result asks, under the key that the answer comes back with.
type question struct {
	key     string
	request mcp.InputRequest
}

// round is a tool that is finished when every question has its answer. With no states all questions go out at once
// and nothing is carried; with one state they go out at once with it; with as many states as questions they go out
// one a round, and the state tells which round it is.
func round(states []string, questions ...question) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		step := 0
		if req.Params.RequestState != "" {
			was, err := openState(req.Params.RequestState)
			if err != nil {
				return nil, err
			}
			for i, s := range states {
				if s == was {
					step = i
				}
			}
		}
		pending := questions
		if len(states) > 1 {
			pending = questions[step : step+1]
		}
		if !answered(req.Params.InputResponses, pending) {
			return unfinished(states, step, pending), nil
		}
		if step+1 < len(states) {
			return unfinished(states, step+1, questions[step+1:step+2]), nil
		}
		text := "state-ok: " + asJSON(req.Params.InputResponses)
		if r, ok := req.Params.InputResponses["user_name"].(*mcp.ElicitResult); ok && states == nil {
			text = fmt.Sprintf("Hello, %v!", r.Content["name"])
		}
		return saying(&mcp.TextContent{Text: text})(ctx, req)
	}
}

func unfinished(states []string, step int, pending []question) *mcp.CallToolResult {
	res := &mcp.CallToolResult{InputRequests: requests(pending)}
	if states != nil {
		res.RequestState = sealState(states[step])
	}
	return res
}

func requests(pending []question) mcp.InputRequestMap {
	m := make(mcp.InputRequestMap, len(pending))
	for _, q := range pending {
		m[q.key] = q.request
	}
	return m
}

// answered says whether every question has an answer of its own kind; more answers do no harm.
func answered(got mcp.InputResponseMap, pending []question) bool {
	for _, q := range pending {
		switch r := got[q.key].(type) {
		case *mcp.ElicitResult:
			if _, ok := q.request.(*mcp.ElicitParams); !ok || r.Action != "accept" || len(r.Content) == 0 {
				return false
			}
		case nil:
			return false
		default:
			if _, ok := q.request.(*mcp.ElicitParams); ok {
				return false
			}
		}
	}
	return true
}

// asAble asks for what the client declared and for nothing else.
func asAble(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return saying(&mcp.TextContent{Text: "asked and answered"})(ctx, req)
	}
	var able []question
	if c := req.ClientCapabilities(); c != nil {
		if c.Elicitation != nil {
			able = append(able, question{"user_name", askUser("What is your name?", nameForm)})
		}
		if c.Sampling != nil {
			able = append(able, question{"greeting", askModel("Generate a greeting", 50)})
		}
	}
	if len(able) == 0 {
		return saying(&mcp.TextContent{Text: "nothing to ask this client"})(ctx, req)
	}
	return &mcp.CallToolResult{InputRequests: requests(able)}, nil
}

// stateKey signs the states of this process, so that a changed one is seen.
var stateKey = sync.OnceValue(func() []byte {
	key := make([]byte, sha256.Size)
	rand.Read(key)
	return key
})

func sealState(state string) string {
	return state + "." + base64.RawURLEncoding.EncodeToString(stateMAC(state))
}

func openState(sealed string) (string, error) {
	state, mac, _ := strings.Cut(sealed, ".")
	got, err := base64.RawURLEncoding.Strict().DecodeString(mac)
	if err != nil || !hmac.Equal(got, stateMAC(state)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: it was not made by this server"}
	}
	return state, nil
}

func stateMAC(state string) []byte {
	h := hmac.New(sha256.New, stateKey())
	h.Write([]byte(state))
	return h.Sum(nil)
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
