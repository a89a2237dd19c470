package pubsub

import (
	"slices"
	"strconv"
)

// Names are what a connection subscribes to. They do not change, and any number of connections share
// them.
type Names struct {
	lists []list
	total int
}

// list is the names of one command.
type list struct {
	verb  string // of the command
	names []string
	known map[string]bool
}

// NewNames returns names, each of which stands once in its list. Sharded ones are channels that belong
// to a slot, as keys do.
func NewNames(channels, patterns, sharded []string) *Names {
	n := &Names{}
	for i, names := range [][]string{channels, patterns, sharded} {
		if len(names) == 0 {
			continue
		}
		l := list{verb: []string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"}[i], names: slices.Clone(names), known: map[string]bool{}}
		for _, name := range names {
			l.known[name] = true
		}
		n.lists = append(n.lists, l)
		n.total += len(names)
	}
	return n
}

// at returns the name that the server confirms as so many were before.
func (n *Names) at(i int) (verb, name string) {
	for _, l := range n.lists {
		if i < len(l.names) {
			return l.verb, l.names[i]
		}
		i -= len(l.names)
	}
	return "", ""
}

// has reports whether a name was asked for by a command.
func (n *Names) has(verb string, name []byte) bool {
	for i := range n.lists {
		if l := &n.lists[i]; l.verb == verb {
			return l.known[string(name)]
		}
	}
	return false
}

// appendSubscribe appends the commands that subscribe, and calls after with the end of each.
func (n *Names) appendSubscribe(dst []byte, after func(end int)) []byte {
	for _, l := range n.lists {
		dst = appendCommand(dst, l.verb, l.names...)
		after(len(dst))
	}
	return dst
}

// appendUnsubscribe appends the commands that end all of it.
func (n *Names) appendUnsubscribe(dst []byte, after func(end int)) []byte {
	for _, l := range n.lists {
		dst = appendCommand(dst, unsubscribes(l.verb))
		after(len(dst))
	}
	return dst
}

// unsubscribes is the command that ends what the other one began.
func unsubscribes(verb string) string {
	const tail = "SUBSCRIBE"
	return verb[:len(verb)-len(tail)] + "UN" + tail
}

// appendCommand appends a command as RESP writes it.
func appendCommand(dst []byte, verb string, words ...string) []byte {
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(words)+1), 10), "\r\n"...)
	dst = appendText(dst, verb)
	for _, w := range words {
		dst = appendText(dst, w)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	dst = append(strconv.AppendInt(append(dst, '$'), int64(len(s)), 10), "\r\n"...)
	return append(append(dst, s...), "\r\n"...)
}
