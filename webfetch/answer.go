package webfetch

import "github.com/wayleave/wayleave/agenttool"

// MaxTextBytes bounds the text of one result, header, notes, wrapper and escapes included, so that no agent harness
// cuts it.
const MaxTextBytes = 20_000

// AnswerOptions say how a page is shown to a model. The zero value shows it as the library's tool does.
type AnswerOptions struct {
	// PageChars bounds a window in code points, beside the model's max_bytes; 0 means DefaultPageChars.
	PageChars int
	// Notes stand after the page's own.
	Notes []Note
	// Snapshot is the number of the kept page, from 1; 0 where pages are not kept.
	Snapshot int
	// PermitCommand is the command with which a person permits a private host, such as "wayleave allow"; a refusal of
	// such a host names it with the host. Empty where there is no such command.
	PermitCommand string
	// Abilities decide what may be named.
	Abilities Abilities
}

// Answer is the result of a call whose page is there: the window that the arguments ask for, as text and as
// structured content. It sends nothing.
func Answer(p *Page, a Arguments, o AnswerOptions) agenttool.Result {
	return WindowResult(ReadWindow(p, a, o), o)
}

// ReadWindow cuts the window that the arguments ask for, small enough that its text keeps to MaxTextBytes.
func ReadWindow(p *Page, a Arguments, o AnswerOptions) *Window { panic("skeleton") }

// WindowResult is the result that shows w.
func WindowResult(w *Window, o AnswerOptions) agenttool.Result { panic("skeleton") }

// ErrorResult is the result that tells a model of a failed call: code, what happened, what to do next. An error that
// is no *Error counts as CodeUnavailable. Failure unwraps to the *Error. A caller's own cancellation is no result:
// return that error instead.
func ErrorResult(err error, o AnswerOptions) agenttool.Result { panic("skeleton") }
