//go:build conformance

// Fixtures of the conformance suite that are documents: resources, a resource template, prompts and completion.

package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func addResourceFixtures(s *mcp.Server) {
	fixed := []struct {
		uri, name, mime string
		contents        mcp.ResourceContents
	}{
		{"test://static-text", "static text", "text/plain",
			mcp.ResourceContents{Text: "This is the content of the static text resource."}},
		{"test://static-binary", "static binary", "image/png", mcp.ResourceContents{Blob: redPixel()}},
		{"test://watched-resource", "watched resource", "text/plain", mcp.ResourceContents{Text: "watched"}},
	}
	for _, f := range fixed {
		c := f.contents
		c.URI, c.MIMEType = f.uri, f.mime
		s.AddResource(&mcp.Resource{URI: f.uri, Name: f.name, Description: "The suite's " + f.name + ".", MIMEType: f.mime},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
			})
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template",
		Description: "Says which id was asked for.", MIMEType: "application/json"}, readTemplate)
}

func readTemplate(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json",
		Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id)}}}, nil
}

func addPromptFixtures(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "One message."},
		promptText("This is a simple prompt for testing."))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "Repeats its arguments.",
		Arguments: []*mcp.PromptArgument{{Name: "arg1", Description: "First test argument", Required: true},
			{Name: "arg2", Description: "Second test argument", Required: true}}},
		func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			a := req.Params.Arguments
			return promptText(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))(ctx, req)
		})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Carries a resource.",
		Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Description: "URI of the resource to embed", Required: true}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return messages(embedded(req.Params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing."),
				&mcp.TextContent{Text: "Please process the embedded resource above."}), nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "Carries an image."},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return messages(&mcp.ImageContent{Data: redPixel(), MIMEType: "image/png"},
				&mcp.TextContent{Text: "Please analyze the image above."}), nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for its context."},
		func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			pending := []question{{"user_context", askUser("What context should the prompt use?", contextForm)}}
			if !answered(req.Params.InputResponses, pending) {
				return &mcp.GetPromptResult{InputRequests: requests(pending)}, nil
			}
			return promptText("Context: "+asJSON(req.Params.InputResponses))(ctx, req)
		})
}

func promptText(text string) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(&mcp.TextContent{Text: text}), nil
	}
}

func messages(content ...mcp.Content) *mcp.GetPromptResult {
	res := &mcp.GetPromptResult{}
	for _, c := range content {
		res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func completeFixture(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
}
