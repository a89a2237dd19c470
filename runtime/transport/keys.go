package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"

	"hyperscale/core/message"
	"hyperscale/runtime/seal"
)

// remedySecret is what helps two nodes that share no secret.
const remedySecret = "give all nodes and clients of the cluster the same --cluster-secret; while a secret rotates, both stand in each file"

// exchange says this end's opening and reads the other's, before the first frame. Without a ring it
// says nothing, and returns no keys.
func (t *Transport) exchange(conn net.Conn, in *bufio.Reader, dialed bool) (seal.Keys, error) {
	if t.config.Keys == nil {
		return seal.Keys{}, nil
	}
	h := t.config.Keys.Begin(dialed)
	if _, err := conn.Write(h.Opening()); err != nil {
		return seal.Keys{}, err
	}
	theirs := make([]byte, seal.OpeningLength)
	if _, err := io.ReadFull(in, theirs[:4]); err != nil {
		return seal.Keys{}, err
	}
	if !seal.Sealed(theirs) {
		return seal.Keys{}, noOpening(theirs[:4])
	}
	if _, err := io.ReadFull(in, theirs[4:]); err != nil {
		return seal.Keys{}, noEOF(err)
	}
	keys, err := h.Finish(theirs)
	return keys, sealError(err)
}

// noOpening tells a node without a secret from garbage, by its first four bytes.
func noOpening(b []byte) error {
	if length := binary.BigEndian.Uint32(b); length < message.HeaderSize || length > message.DatagramMax {
		return &tooLongError{length, message.DatagramMax}
	}
	return sealError(seal.ErrPlain)
}

// sealError makes what two nodes can mend a RefusedError.
func sealError(err error) error {
	if mismatch := (*seal.KeyError)(nil); errors.As(err, &mismatch) {
		return &RefusedError{Field: "secret", Got: namesOf(mismatch.Got), Want: namesOf(mismatch.Want), Remedy: remedySecret, cause: err}
	}
	if errors.Is(err, seal.ErrPlain) {
		return &RefusedError{Field: "secret", Got: "none", Want: "one, as it seals its frames", Remedy: remedySecret, cause: err}
	}
	if errors.Is(err, seal.ErrScope) {
		return &RefusedError{Field: "cluster, environment or major version", Got: "another one", Want: "its own",
			Remedy: "set --cluster and --environment to the same names on all nodes, run the same major version of hyperscale, or correct the address", cause: err}
	}
	return err
}

// errSealed is what a node without a secret says to one that has one.
var errSealed = &RefusedError{Field: "secret", Got: "one that this node does not know", Want: "none, as it was started without", Remedy: remedySecret}

// namesOf lists names of secrets as a sentence does.
func namesOf(ids []seal.ID) string {
	var all []string
	for _, id := range ids {
		all = append(all, id.String())
	}
	return strings.Join(all, " or ")
}
