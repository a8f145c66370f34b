// This file asks the person at the client's side, in the way of each era: by a request of ours while the call waits, or
// by ending the call with the question, after which it comes again with the answer.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/tool"
)

// asking is what one call may ask. Its question goes out at most once.
type asking struct {
	r        *mcp.CallToolRequest
	modern   bool
	question *tool.Question // asked by ending the call

	questions *questions
	scope     string                    // whose questions they are
	say       func(message []byte) bool // sends a message of ours while the call waits; false where nobody hears it
}

// answerKey is the member under which an answer stands: of the form, and of the questions of an unfinished result.
const answerKey = "answer"

// asker gives the way to ask, nil where the client has none. A client that declares elicitation and no mode of it has
// forms.
func (s *Server) asker(r *mcp.CallToolRequest, c tool.Caller, fixed *fixedCaller, modern bool) *asking {
	if given, ok := r.Params.GetMeta()[mcp.MetaKeyClientCapabilities].(map[string]any); ok && given["elicitation"] == nil {
		return nil // without what the library's reading of it costs
	}
	able := r.ClientCapabilities()
	if able == nil || able.Elicitation == nil || able.Elicitation.Form == nil && able.Elicitation.URL != nil {
		return nil
	}
	a := &asking{r: r, modern: modern, questions: s.questions, scope: c.Session}
	if fixed != nil {
		a.scope, a.say = pipeScope(c), fixed.piped.say
	} else {
		a.say = s.answers.of(requestID(r)).say
	}
	return a
}

// pipeScope is whose questions those are that a client over pipes is shown. Whoever may start one for an agent is the same
// person for all of them.
func pipeScope(c tool.Caller) string { return "pipe:" + c.Agent }

// ask is tool.Caller's Ask.
func (a *asking) ask(ctx context.Context, q tool.Question) (answer string, asked bool, err error) {
	form, err := form(q)
	if err != nil {
		return "", false, err
	}
	if a.modern {
		// What comes back is a client's word: it counts for the question that this very call has open and no other.
		if a.r.Params.RequestState == q.ID {
			if got, ok := a.r.Params.InputResponses[answerKey].(*mcp.ElicitResult); ok {
				answer, asked = chosen(got, q)
				return answer, asked, nil
			}
		}
		a.question = &q
		return "", false, tool.ErrComeAgain
	}
	name, got, end := a.questions.ask(a.scope, q.ID)
	defer end()
	if shown, err := a.tell(map[string]any{"id": name, "method": "elicitation/create", "params": form}); err != nil || !shown {
		return "", false, err // who does not hear us cannot be asked; the other ways to answer remain
	}
	select {
	case r := <-got:
		if r != nil {
			answer, asked = chosen(r, q)
		}
		return answer, asked, nil
	case <-ctx.Done(): // there is nothing to answer any more: the client may close the form
		_, err := a.tell(map[string]any{"method": "notifications/cancelled", "params": map[string]any{"requestId": name, "reason": "the question is over"}})
		return "", false, errors.Join(ctx.Err(), err)
	}
}

// tell sends the client a message of ours, and says whether it was sent.
func (a *asking) tell(message map[string]any) (sent bool, err error) {
	message["jsonrpc"] = "2.0"
	text, err := json.Marshal(message)
	if err != nil {
		return false, fmt.Errorf("a message to the client: %w", err)
	}
	return a.say(text), nil
}

// chosen reads an answer. Declining is the person's no; closing the form is none.
func chosen(got *mcp.ElicitResult, q tool.Question) (answer string, asked bool) {
	switch got.Action {
	case "accept":
		answer, _ = got.Content[answerKey].(string)
	case "decline":
		answer = "deny"
	}
	return answer, slices.Contains(q.Answers, answer)
}

// form is the question as one required choice: all clients that draw forms draw that.
func form(q tool.Question) (*mcp.ElicitParams, error) {
	schema, err := json.Marshal(map[string]any{"type": "object", "required": []string{answerKey},
		"properties": map[string]any{answerKey: map[string]any{"type": "string", "enum": q.Answers}}})
	if err != nil {
		return nil, fmt.Errorf("question %s: %w", q.ID, err)
	}
	return &mcp.ElicitParams{Mode: "form", Message: q.Message, RequestedSchema: json.RawMessage(schema)}, nil
}

// unfinished is the result that asks.
func (a *asking) unfinished() (*mcp.CallToolResult, error) {
	if a.question == nil {
		return nil, errors.New("a call is to come again and no question was asked")
	}
	form, err := form(*a.question)
	if err != nil {
		return nil, err
	}
	out := new(mcp.CallToolResult)
	// The library says what kind of result it is of its own tools' results only, in a field without a name here.
	_ = json.Unmarshal([]byte(`{"content":[],"resultType":"input_required"}`), out)
	out.Content, out.InputRequests, out.RequestState = nil, mcp.InputRequestMap{answerKey: form}, a.question.ID
	return out, nil
}
