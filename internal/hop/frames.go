package hop

// What an HTTP/2 peer sends, frame by frame, before the protocol library sees it. The library takes frames that bring
// nothing without end, working for each until the deadline, and writes a line to the program's log for each frame of a
// kind that it has no use for: a site could hold a core, and fill a disk.

import (
	"bufio"
	"io"
	"net"
)

// Of frames (RFC 9113, 4.1 and 6): the size of their header, kinds, and the flag that a frame of data is padded.
const (
	frameHeader       = 9
	frameData         = 0
	framePriority     = 2
	frameSettings     = 4
	frameContinuation = 9
	flagPadded        = 8
)

const (
	// maxFrame is how large frames may be as long as nothing else was agreed (RFC 9113, 4.2).
	maxFrame = 1 << 14
	// maxIdleFrames bounds the frames of a connection that bring no byte of a body. A page takes a few; one whose
	// headers come in crumbs, or that is slow enough to be pinged, a few dozen.
	maxIdleFrames = 1000
)

// frameFilter is a connection to an HTTP/2 peer, of which frames that mean nothing to a client are left out.
type frameFilter struct {
	net.Conn
	r       *bufio.Reader
	head    [frameHeader]byte
	unread  []byte // of head
	payload int    // bytes of the frame that were not read yet
	greeted bool
	idle    int
}

func filterFrames(conn net.Conn) *frameFilter {
	return &frameFilter{Conn: conn, r: bufio.NewReader(conn)}
}

// Read gives whole frames, in pieces. The error may be a Fault.
func (f *frameFilter) Read(p []byte) (int, error) {
	for len(f.unread) == 0 && f.payload == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	if len(f.unread) > 0 {
		n := copy(p, f.unread)
		f.unread = f.unread[n:]
		return n, nil
	}
	n, err := f.r.Read(p[:min(len(p), f.payload)])
	f.payload -= n
	return n, err
}

// next reads the header of a frame, and passes over the frame if it is not for us.
func (f *frameFilter) next() error {
	if _, err := io.ReadFull(f.r, f.head[:]); err != nil {
		return err
	}
	length := int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
	kind, flags := f.head[3], f.head[4]
	if !f.greeted && kind != frameSettings {
		return NotHTTP // a server's first frame is its settings
	}
	f.greeted = true
	if kind != frameData || length == 0 || length <= 1+maxPadding && flags&flagPadded != 0 {
		if f.idle++; f.idle > maxIdleFrames {
			return IdleFrames
		}
	}
	if length <= maxFrame && !forClients(kind) {
		_, err := f.r.Discard(length)
		return err
	}
	f.unread, f.payload = f.head[:], length
	return nil
}

// maxPadding is the most padding of a frame; one byte more holds its length.
const maxPadding = 255

// forClients tells the kinds of frames that the library acts on. Kinds that nobody knows are to be ignored (RFC 9113,
// 4.1); priorities were for servers.
func forClients(kind byte) bool {
	return kind <= frameContinuation && kind != framePriority
}
