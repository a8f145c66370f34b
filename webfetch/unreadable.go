package webfetch

// Unreadable is an error of Documents that says why in words of its own: a model is told the reason.
type Unreadable struct {
	// Reason is the end of the sentence "the document cannot be read: …", without a full stop, such as "it is
	// encrypted". It must not hold words of the document or of a server.
	Reason string
	Cause  error // for the host; may be nil
}

func (e *Unreadable) Error() string {
	if e.Cause == nil {
		return "the document cannot be read: " + e.Reason
	}
	return "the document cannot be read: " + e.Cause.Error()
}

// Unwrap gives the cause.
func (e *Unreadable) Unwrap() error { return e.Cause }
