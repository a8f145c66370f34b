//go:build conformance

// The tools that the MCP conformance suite calls by name. A build with the tag "conformance" offers them beside the
// product's own, so that the suite reaches every corner of the real transport: content kinds, notices during a call,
// errors, headers made from arguments, questions (conformance_ask.go), resources and prompts (conformance_docs.go).
//
// The one rule: nothing here is in a released binary, and nothing here goes around the transport that is under test.

package mcpserver

//lint:file-ignore SA1019 the suite still asks for logging, sampling and roots, which newer revisions leave out

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixturePause is how long a fixture works between two notices; the suite asks for about 50 ms.
const fixturePause = 50 * time.Millisecond

const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`

// fixture is one tool that the suite knows by name.
type fixture struct {
	name, what, schema string
	call               mcp.ToolHandler
}

// widen declares the capabilities that the fixtures need and the product does not offer.
func widen(o *mcp.ServerOptions) {
	o.CompletionHandler = completeFixture
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	o.Capabilities = &mcp.ServerCapabilities{
		Logging:   &mcp.LoggingCapabilities{},
		Tools:     &mcp.ToolCapabilities{ListChanged: true},
		Prompts:   &mcp.PromptCapabilities{ListChanged: true},
		Resources: &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
	}
}

// extend adds every fixture to s and names the methods that serve them.
func extend(s *mcp.Server) (methods []string) {
	for _, f := range append(plainFixtures(s), askingFixtures()...) {
		s.AddTool(&mcp.Tool{Name: f.name, Description: f.what, InputSchema: json.RawMessage(f.schema)}, f.call)
	}
	addPromptFixtures(s)
	addResourceFixtures(s)
	return []string{
		"logging/setLevel", "completion/complete", "prompts/list", "prompts/get", "resources/list", "resources/templates/list",
		"resources/read", "resources/subscribe", "resources/unsubscribe",
	}
}

func plainFixtures(s *mcp.Server) []fixture {
	return []fixture{
		{"test_simple_text", "Answers one text.", noArguments, saying(
			&mcp.TextContent{Text: "This is a simple text response for testing."})},
		{"test_image_content", "Answers one image.", noArguments, saying(
			&mcp.ImageContent{Data: redPixel(), MIMEType: "image/png"})},
		{"test_audio_content", "Answers one sound.", noArguments, saying(
			&mcp.AudioContent{Data: emptyWAV(), MIMEType: "audio/wav"})},
		{"test_embedded_resource", "Answers one resource.", noArguments, saying(
			embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))},
		{"test_multiple_content_types", "Answers a text, an image and a resource.", noArguments, saying(
			&mcp.TextContent{Text: "Multiple content types test:"},
			&mcp.ImageContent{Data: redPixel(), MIMEType: "image/png"},
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))},
		{"test_error_handling", "Always fails.", noArguments, failing},
		{"test_tool_with_logging", "Logs three lines while it works.", noArguments, logging},
		{"test_logging_tool", "Logs three lines while it works.", noArguments, logging},
		{"test_tool_with_progress", "Reports 0, 50 and 100 of 100.", noArguments, progressing},
		{"test_reconnection", "Closes its stream before it answers.", noArguments, reconnecting},
		{"test_missing_capability", "Needs a client that samples.", noArguments, needsSampling},
		{"test_trigger_tool_change", "Changes the list of tools.", noArguments, changing(func() {
			const name = "test_comes_and_goes"
			s.AddTool(&mcp.Tool{Name: name, Description: "Is there for a moment.", InputSchema: json.RawMessage(noArguments)}, failing)
			s.RemoveTools(name)
		})},
		{"test_trigger_prompt_change", "Changes the list of prompts.", noArguments, changing(func() {
			const name = "test_comes_and_goes"
			s.AddPrompt(&mcp.Prompt{Name: name, Description: "Is there for a moment."}, promptText("moment"))
			s.RemovePrompts(name)
		})},
		{"test_header_argument", "Has an argument that is repeated in a header.",
			`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"],"additionalProperties":false}`,
			saying(&mcp.TextContent{Text: "region taken"})},
		{"json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", schema2020, saying(
			&mcp.TextContent{Text: "validated"})},
	}
}

// schema2020 is the schema whose keywords the suite looks for in tools/list.
const schema2020 = `{
 "$schema":"https://json-schema.org/draft/2020-12/schema",
 "type":"object",
 "$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
 "properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
  "contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
 "allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
 "if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
 "then":{"required":["phone"]},"else":{"required":["email"]},
 "additionalProperties":false}`

func saying(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func failing(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{
		&mcp.TextContent{Text: "This tool intentionally returns an error for testing"}}}, nil
}

func changing(change func()) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		change()
		return saying(&mcp.TextContent{Text: "changed"})(ctx, req)
	}
}

func logging(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: "conformance", Data: line}); err != nil {
			return nil, err
		}
		if err := pause(ctx, fixturePause); err != nil {
			return nil, err
		}
	}
	return saying(&mcp.TextContent{Text: "logged"})(ctx, req)
}

func progressing(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		if token != nil {
			n := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}
			if err := req.Session.NotifyProgress(ctx, n); err != nil {
				return nil, err
			}
		}
		if err := pause(ctx, fixturePause); err != nil {
			return nil, err
		}
	}
	return saying(&mcp.TextContent{Text: "done"})(ctx, req)
}

// reconnecting closes the response stream and answers when the client had time to come back for it.
func reconnecting(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra == nil || req.Extra.CloseSSEStream == nil {
		return saying(&mcp.TextContent{Text: "this transport has no stream to close"})(ctx, req)
	}
	req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: fixturePause})
	if err := pause(ctx, 4*fixturePause); err != nil {
		return nil, err
	}
	return saying(&mcp.TextContent{Text: "answered after the stream was closed"})(ctx, req)
}

func needsSampling(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return saying(&mcp.TextContent{Text: "the client samples"})(ctx, req)
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities,
		Message: "sampling: the client must declare it", Data: data}
}

func embedded(uri, mime, text string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: text}}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// redPixel is a PNG of one red pixel.
func redPixel() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.RGBA{R: 255, A: 255})
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err) // a buffer takes every write
	}
	return out.Bytes()
}

// emptyWAV is a WAV file with no samples: one channel, 8,000 Hz, 8 bits.
func emptyWAV() []byte {
	return []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")
}
