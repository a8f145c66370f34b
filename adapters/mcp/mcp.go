// Package mcp offers Wayleave's tools on an MCP server made with the official Go SDK.
//
// The one rule: what a client gets is what the tool made, unchanged: its text first, at most one picture after it, the
// structured content beside it, and isError for a failure. No output schema is declared, since with one some clients
// show their model the structured content instead of the text, and the text is where page content is marked as such.
//
//	server := mcp.NewServer(&mcp.Implementation{Name: "reader", Version: "1"}, nil)
//	err := wayleave.AddWebFetch(server, webfetch.ToolOptions{})
package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/webfetch"
)

// Error is the failure of a web_fetch call, so that telling failures apart takes no second import: the Failure of the
// tool's result unwraps to it.
type Error = webfetch.Error

// AddWebFetch makes the web_fetch tool of o and adds it to server. An invalid option is an error, and nothing is added.
func AddWebFetch(server *mcp.Server, o webfetch.ToolOptions) error {
	tool, err := webfetch.NewTool(o)
	if err != nil {
		return err
	}
	AddTool(server, tool)
	return nil
}

// AddTool adds tool to server, in place of one of the same name. It panics if the input schema is no object schema. A
// handler's error becomes a protocol error with its text; a call that its client cancelled has no result.
func AddTool(server *mcp.Server, tool agenttool.Tool) {
	server.AddTool(&mcp.Tool{
		Name:        tool.Name,
		Description: tool.Description,
		InputSchema: tool.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:    tool.Hints.ReadOnly,
			DestructiveHint: &tool.Hints.Destructive,
			IdempotentHint:  tool.Hints.Idempotent,
			OpenWorldHint:   &tool.Hints.OpenWorld,
		},
	}, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := tool.Handler(ctx, request.Params.Arguments)
		if err != nil {
			return nil, err
		}
		return callToolResult(result), nil
	})
}

func callToolResult(r agenttool.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Meta: r.Meta, IsError: r.Failure != nil}
	if r.Structured != nil {
		out.StructuredContent = r.Structured
	}
	for _, part := range r.Content {
		if part.MIME != "" {
			out.Content = append(out.Content, &mcp.ImageContent{Data: part.Data, MIMEType: part.MIME})
		} else {
			out.Content = append(out.Content, &mcp.TextContent{Text: part.Text})
		}
	}
	return out
}
