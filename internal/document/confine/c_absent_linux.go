//go:build linux && !cgo

package confine

// cLinked: no C library is in the process.
const cLinked = false
