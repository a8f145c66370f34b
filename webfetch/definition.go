package webfetch

import "github.com/wayleave/wayleave/agenttool"

// ToolName is the tool's name unless a host chooses another.
const ToolName = "web_fetch"

// Abilities are what this build reads and what the agent is offered beside web_fetch. The tool's description, its
// members and every sentence that a model reads follow them, so that nothing is named that is not there. The zero
// value is the smallest tool.
type Abilities struct {
	Documents   bool // PDF and Office files are read
	MainContent bool // the members content and links exist
	Browser     bool // browser_navigate is offered to the same agent
	WebSearch   bool // web_search is offered to the same agent
}

// Definition is the tool as a tool list shows it, without a handler. An empty description means the built-in one.
func Definition(description string, able Abilities) agenttool.Tool { panic("skeleton") }
