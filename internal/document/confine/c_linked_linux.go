//go:build linux && cgo

package confine

// cLinked: a C library is in the process. It opens files of its own accord, such as the list of processors when the
// tenth thread comes, and lives with a refusal; to kill for it would kill at random.
const cLinked = true
