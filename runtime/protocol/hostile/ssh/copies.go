package ssh

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	gossh "golang.org/x/crypto/ssh"
)

// copies plays scp.
func copies(b *Behaviour, c gossh.Channel, line string) {
	in := bufio.NewReader(c)
	say := func(format string, values ...any) { _, _ = fmt.Fprintf(c, format, values...) }
	switch {
	case line == "true":
	case b.Copy != "":
		say("%s", b.Copy)
		defer b.spent()
		if b.Status == statusWaits {
			_, _ = io.Copy(io.Discard, in)
		}
	case strings.Contains(line, "scp -f"):
		_, _ = in.ReadByte()
		say("C0644 %d next\n", len(Next))
		_, _ = in.ReadByte()
		say("%s\x00", Next)
		_, _ = in.ReadByte()
	default:
		say("\x00")
		var size int
		header, _ := in.ReadString('\n')
		_, _ = fmt.Sscanf(header, "C0644 %d", &size)
		say("\x00")
		_, _ = io.CopyN(io.Discard, in, int64(size)+1)
		say("\x00")
	}
	if b.Status >= 0 {
		_, _ = c.SendRequest("exit-status", false, gossh.Marshal(struct{ Status uint32 }{uint32(b.Status)}))
	}
}

// statusWaits: scp says nothing more, and does not end.
const statusWaits = -2
