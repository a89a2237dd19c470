package exec

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// lent is the child's end of the socket that carries descriptors of large files' memory.
const lent = 4

// lend prepares the program's large files, and gives them and then its work to the child.
// Reading a gigabyte takes seconds, and the caller that starts a run must not wait for that.
func (p *Pool) lend(ch *child, id node.ExecID, start *message.ExecStart) {
	var fds []int
	for i := range start.Program.Feeds {
		name := &start.Program.Feeds[i]
		sheet, err := p.sheets.Open(name)
		if err != nil {
			ch.kill(err.Error())
			return
		}
		p.mu.Lock()
		if p.busy[id] != ch { // it ended meanwhile
			p.mu.Unlock()
			p.sheets.Close(name)
			return
		}
		ch.sheets = append(ch.sheets, name)
		p.mu.Unlock()
		fds = append(fds, int(sheet.File().Fd()))
	}
	if err := hand(ch.lend, fds); err != nil {
		ch.kill(fmt.Sprintf("its files could not be handed over: %v", err))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[id] == ch {
		ch.send(start)
	}
}

// handMost is how many descriptors one message carries; the kernel takes 253.
const handMost = 250

// hand passes descriptors through a socket.
func hand(socket *os.File, fds []int) error {
	for some := range slices.Chunk(fds, handMost) {
		if err := handSome(socket, some); err != nil {
			return err
		}
	}
	return nil
}

func handSome(socket *os.File, fds []int) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), []byte{1}, unix.UnixRights(fds...), nil, 0)
		return failed != unix.EAGAIN
	})
	if err != nil {
		return err
	}
	return failed
}

// take receives a number of descriptors, as hand has passed them.
func take(socket, many int) ([]int, error) {
	all := make([]int, 0, many)
	for len(all) < many {
		some, err := takeSome(socket, min(many-len(all), handMost))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func takeSome(socket, many int) ([]int, error) {
	ancillary := make([]byte, unix.CmsgSpace(4*many))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), ancillary, ownRights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(ancillary[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("%d control messages: %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err == nil && len(fds) != many {
		err = fmt.Errorf("%d descriptors, want %d", len(fds), many)
	}
	return fds, err
}
