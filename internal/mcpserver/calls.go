// This file answers the methods that are about tools, for both eras and both transports. The protocol library decodes
// and frames; what is listed and called is asked of Tools each time, so that nothing is registered that could be stale.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/tool"
)

// listTTL is how long a client may keep a list: short, since an operator's change is seen only by asking again.
const listTTL = 30 * time.Second

// methodListen opens a standing stream, which is answered when its connection ends.
const methodListen = "subscriptions/listen"

// codeBusy is the JSON-RPC code of a call that may be made again later.
const codeBusy = -32000

// methods are what this server serves. Whatever else the library knows has no capability declared, and is not found.
var methods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", methodListen,
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
}

// newProtocol makes the library's server. fixed is the caller of a transport that has no tokens; nil takes callers from
// each request's token. newID chooses the ids of sessions; nil leaves that to the library.
func (s *Server) newProtocol(fixed *fixedCaller, newID func() string) (*mcp.Server, map[string]bool) {
	options := &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		GetSessionID: newID,
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = kept() },
	}
	widen(options)
	server := mcp.NewServer(&mcp.Implementation{Name: "wayleave", Version: s.o.Version}, options)
	served := make(map[string]bool)
	for _, m := range slices.Concat(methods, extend(server)) {
		served[m] = true
	}
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			if !served[method] {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method " + printable(method, 80) + " is not served here"}
			}
			// The library runs handlers on goroutines of its own, where a panic would end the process.
			defer func() {
				if p := recover(); p != nil {
					res, err = nil, s.fault(requestID(req), "panic", fmt.Errorf("%T", p), string(debug.Stack()))
				}
			}()
			switch r := req.(type) {
			case *mcp.ListToolsRequest:
				if r.Params == nil { // a client may leave them out
					r.Params = &mcp.ListToolsParams{}
				}
				r.Extra = identified(r.Extra)
				c, err := caller(r, fixed)
				if err != nil {
					return nil, err
				}
				return s.list(ctx, c, next, r)
			case *mcp.CallToolRequest:
				r.Extra = identified(r.Extra)
				c, err := caller(r, fixed)
				if err != nil {
					return nil, err
				}
				return s.call(ctx, c, fixed, next, r)
			case *mcp.ServerRequest[*mcp.DiscoverParams]:
				if fixed != nil {
					return discovered(options), nil
				}
			}
			if method == "notifications/initialized" {
				// We said so for the client already; see adopt.go.
				_, _ = next(ctx, method, req)
				return nil, nil
			}
			return next(ctx, method, req)
		}
	})
	return server, served
}

// discovered answers what a client asks before it chooses an era. Over a pipe the library would take the question for the
// handshake itself, and refuse the one of a client that did not wait for the answer, as clients do when the program starts
// slower than they expect, and goes on as the older era does.
func discovered(o *mcp.ServerOptions) *mcp.DiscoverResult {
	return &mcp.DiscoverResult{SupportedVersions: mcp.SupportedProtocolVersions(), Capabilities: o.Capabilities, Instructions: o.Instructions, Cacheable: kept()}
}

// kept says how long, and for whom, a client may keep an answer.
func kept() mcp.Cacheable {
	return mcp.Cacheable{CacheScope: "private", TTLMs: int(listTTL.Milliseconds())}
}

// fixedCaller is the one caller of a transport without tokens, and the calls whose answers it has not read.
type fixedCaller struct {
	tool.Caller
	piped *piped
}

// caller is who sent a request, and what it named.
func caller[P mcp.Params](r *mcp.ServerRequest[P], fixed *fixedCaller) (tool.Caller, error) {
	var c tool.Caller
	if fixed != nil {
		c = fixed.Caller
	} else if r.Extra != nil && r.Extra.TokenInfo != nil {
		who, _ := r.Extra.TokenInfo.Extra[identityKey].(agent.Identity)
		c.Agent, c.Slug, c.Token = who.AgentID, who.Agent, who.TokenID
		c.Session = sessionName(r.Session.ID())
	}
	c.Client = clean(clientName(r), maxClientName)
	var header http.Header
	if r.Extra != nil {
		header = r.Extra.Header
	}
	c.UserAgent = clean(header.Get("User-Agent"), maxClientName)
	return c, named(&c, r.Params.GetMeta(), header)
}

// clientName is what a client calls itself: beside this request, or when its session began. The library would encode and
// decode anew what it has read already.
func clientName[P mcp.Params](r *mcp.ServerRequest[P]) string {
	if info, ok := r.Params.GetMeta()[mcp.MetaKeyClientInfo].(map[string]any); ok {
		if name, ok := info["name"].(string); ok {
			return name
		}
	}
	if info := r.ClientInfo(); info != nil {
		return info.Name
	}
	return ""
}

func (s *Server) list(ctx context.Context, c tool.Caller, next mcp.MethodHandler, r *mcp.ListToolsRequest) (mcp.Result, error) {
	res, err := next(ctx, "tools/list", r) // checks the cursor, sets how long the list may be kept
	if err != nil {
		return nil, err
	}
	list, ok := res.(*mcp.ListToolsResult)
	if !ok {
		return nil, s.fault(requestID(r), "list tools", fmt.Errorf("the library answered %T", res), "")
	}
	tools, err := s.tools.List(ctx, c)
	if err != nil {
		switch {
		case errors.Is(err, tool.ErrUnknownRun):
			return nil, noSuchRun()
		case gone(ctx, err):
			return nil, err
		}
		return nil, s.fault(requestID(r), "list tools", err, "")
	}
	list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == nudge })
	for _, t := range tools {
		list.Tools = append(list.Tools, wireTool(t))
	}
	slices.SortFunc(list.Tools, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// wireTool is a tool as a list shows it: no title, icons or output schema, all four hints.
func wireTool(t agenttool.Tool) *mcp.Tool {
	return &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, Annotations: &mcp.ToolAnnotations{
		ReadOnlyHint: t.Hints.ReadOnly, DestructiveHint: &t.Hints.Destructive, IdempotentHint: t.Hints.Idempotent, OpenWorldHint: &t.Hints.OpenWorld}}
}

func (s *Server) call(ctx context.Context, c tool.Caller, fixed *fixedCaller, next mcp.MethodHandler, r *mcp.CallToolRequest) (mcp.Result, error) {
	// A legacy session's context outlives its request; a call must not outlive the server.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()

	if c.Token != "" { // over pipes a client has only itself to hold up
		leave, ok := s.roster.call(c.Token)
		if !ok {
			return nil, &jsonrpc.Error{Code: codeBusy, Message: "this token has too many calls under way; wait for one, or cancel it",
				Data: json.RawMessage(`{"code":"rate_limit"}`)}
		}
		defer leave()
	}
	modern := r.ProtocolVersion() >= modernEra
	asking := s.asker(r, c, fixed, modern)
	if asking != nil {
		c.Ask = asking.ask
	}
	c.Progress = progress(ctx, r)
	began := time.Now()
	result, err := s.tools.Call(ctx, c, r.Params.Name, r.Params.Arguments)
	var fault *tool.Fault
	switch {
	case errors.Is(err, tool.ErrUnknownTool):
		return s.unknown(ctx, c, next, r)
	case errors.Is(err, tool.ErrUnknownRun):
		s.noteCall(r, c, "not_found", time.Since(began))
		return nil, noSuchRun()
	case errors.Is(err, tool.ErrComeAgain) && asking != nil:
		s.noteCall(r, c, "asked", time.Since(began))
		return asking.unfinished()
	case err != nil && gone(ctx, err):
		s.noteCall(r, c, "cancelled", time.Since(began))
		return nil, err
	case errors.As(err, &fault):
		s.noteCall(r, c, fault.Code, time.Since(began))
		return nil, s.failed(requestID(r), fault)
	case err != nil:
		s.noteCall(r, c, "internal_error", time.Since(began))
		return nil, s.fault(requestID(r), "call", err, "")
	}
	code := result.Code
	if code == "" {
		code = outcome(result.Result)
	}
	s.noteCall(r, c, code, time.Since(began))
	if result.Stale {
		s.Changed()
	}
	switch {
	case result.Delivered == nil:
	case fixed != nil:
		fixed.piped.add(result.Call, result.Delivered)
	default:
		s.answers.of(requestID(r)).add(result.Delivered)
	}
	return wireResult(result.Result, modern), nil
}

// noSuchRun is what a client learns that named a run which is not there, or not its agent's.
func noSuchRun() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such run of this token's agent; leave the run's id out, or open a new one", Data: json.RawMessage(`{"code":"not_found"}`)}
}

// progress gives the way to tell a client what its call waits for; nil where it did not ask to be told.
func progress(ctx context.Context, r *mcp.CallToolRequest) func(message string) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var mu sync.Mutex
	told := 0.0
	return func(message string) {
		mu.Lock()
		defer mu.Unlock()
		told++
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: told, Message: message})
	}
}

// failed gives what a client learns of a call that is no result.
func (s *Server) failed(id string, f *tool.Fault) error {
	s.log.Error("call", "request_id", id, "code", f.Code, "error", f.Err)
	data, err := json.Marshal(map[string]string{"code": f.Code, "request_id": id})
	if err != nil { // strings only: cannot be
		data = nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Text, Data: data}
}

// unknown answers a name that is not offered, unless the library has a tool of it (builds for the conformance suite).
func (s *Server) unknown(ctx context.Context, c tool.Caller, next mcp.MethodHandler, r *mcp.CallToolRequest) (mcp.Result, error) {
	res, err := next(ctx, "tools/call", r)
	var wire *jsonrpc.Error
	if errors.As(err, &wire) && wire.Code == jsonrpc.CodeInvalidParams {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + printable(r.Params.Name, 80),
			Data: json.RawMessage(`{"code":"not_found"}`)}
	}
	return res, err
}

func wireResult(r agenttool.Result, modern bool) *mcp.CallToolResult {
	out := new(mcp.CallToolResult)
	if modern {
		*out = complete()
	}
	out.IsError, out.Content = r.Failure != nil, []mcp.Content{}
	for _, p := range r.Content {
		if p.MIME != "" {
			out.Content = append(out.Content, &mcp.ImageContent{MIMEType: p.MIME, Data: p.Data})
		} else {
			out.Content = append(out.Content, &mcp.TextContent{Text: p.Text})
		}
	}
	if r.Structured != nil {
		out.StructuredContent = r.Structured
	}
	if r.Meta != nil {
		out.Meta = r.Meta
	}
	return out
}

// complete is an empty result that says that it is complete, which must be said in this era. The library says it of its own
// tools' results only, in a field without a name here.
var complete = sync.OnceValue(func() (r mcp.CallToolResult) {
	_ = json.Unmarshal([]byte(`{"content":[],"resultType":"complete"}`), &r) // a constant
	return r
})

// gone says that the caller, not we, ended the call.
func gone(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// fault logs an error of ours and gives what a client learns of it.
func (s *Server) fault(id, doing string, err error, stack string) error {
	attrs := []any{"request_id", id, "error", err}
	if stack != "" {
		attrs = append(attrs, "stack", stack)
	}
	s.log.Error(doing, attrs...)
	data, _ := json.Marshal(map[string]string{"code": "internal_error", "request_id": id})
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong here; the operator's log has more under the request's id", Data: data}
}

// identified gives a request over pipes an id; over HTTP it has the one that its transport gave it.
func identified(x *mcp.RequestExtra) *mcp.RequestExtra {
	if x == nil {
		x = new(mcp.RequestExtra)
	}
	if x.Header == nil {
		x.Header = make(http.Header)
	}
	if x.Header.Get(requestIDHeader) == "" {
		x.Header.Set(requestIDHeader, newRequestID())
	}
	return x
}

// requestID is what a request is called in the log and in answers to faults.
func requestID(r mcp.Request) string {
	if x := r.GetExtra(); x != nil && x.Header.Get(requestIDHeader) != "" {
		return x.Header.Get(requestIDHeader)
	}
	return newRequestID()
}

func (s *Server) noteCall(r *mcp.CallToolRequest, c tool.Caller, outcome string, took time.Duration) {
	if !s.log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	s.log.Info("call", "request_id", requestID(r), "agent", c.Slug, "token", c.Token, "client", c.Client,
		"tool", r.Params.Name, "outcome", outcome, "took_ms", milliseconds(took))
}

// outcome is "ok" or the code of a failed result, which tools put into the structured part.
func outcome(r agenttool.Result) string {
	if r.Failure == nil {
		return "ok"
	}
	var s struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(r.Structured, &s) != nil || s.Code == "" {
		return "error"
	}
	return s.Code
}
