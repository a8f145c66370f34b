//go:build !conformance

package mcpserver

import "github.com/modelcontextprotocol/go-sdk/mcp"

// widen declares nothing more than the product has.
func widen(*mcp.ServerOptions) {}

// extend adds nothing. Builds for the protocol's conformance suite have another one, which adds the suite's own tools,
// resources and prompts and names the methods that serve them.
func extend(*mcp.Server) (methods []string) { return nil }
