// Package confine takes from a process what it does not need any more: files, sockets, other programs, new descriptors.
//
// The one rule: nothing here can be taken back, and what the system did not grant is said, never assumed.
package confine

// Holds says which bounds hold.
type Holds struct {
	Calls  bool `json:"calls"`  // no file is opened, no socket made and no program started: the system kills who tries
	Files  bool `json:"files"`  // no file can be reached, by a second guard
	Limits bool `json:"limits"` // CPU time and address space end by the system at the latest
	Closed bool `json:"closed"` // other processes of the user do not see its memory
}

// Limits are the last resort, where whoever watches the process does not act.
type Limits struct {
	CPUSeconds uint64 // of the process's whole life
	Space      uint64 // bytes of addresses beyond those in use
}
