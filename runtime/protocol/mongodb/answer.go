package mongodb

import (
	"bytes"
	"fmt"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/http1"
)

// answer is what of an answer counts. Its bytes are those of the answer.
type answer struct {
	told
	ok       bool
	said     bool // ok
	n        int64
	modified int64 // below 0: it says nothing of it
	upserted uint64
	cursor   []byte // a document; nil: there is none
	errors   []byte // an array of documents
	concern  []byte // a document
}

// read reads an answer, whose BSON is checked.
func (a *answer) read(b []byte) *http1.Error {
	a.modified = -1
	rest, err := bson.Fields(b)
	for err == nil && len(rest) > 0 {
		var e bson.Element
		if e, rest, err = bson.Next(rest); err != nil {
			break
		}
		a.told.read(&e)
		switch string(e.Name) {
		case "ok":
			n, _ := e.Whole()
			a.ok, a.said = n == 1, true
		case "n":
			a.n, _ = e.Whole()
		case "nModified":
			a.modified, _ = e.Whole()
		case "upserted":
			if e.Type == bson.Array {
				a.upserted = members(e.Value)
			}
		case "cursor":
			if e.Type == bson.Document {
				a.cursor = e.Value
			}
		case "writeErrors":
			if e.Type == bson.Array {
				a.errors = e.Value
			}
		case "writeConcernError":
			if e.Type == bson.Document {
				a.concern = e.Value
			}
		}
	}
	if !a.said {
		return errNoOk
	}
	return nil
}

// fault is the error that an answer tells; nil: none.
func (a *answer) fault() error {
	if !a.ok {
		return a.told.fault("")
	}
	var t told
	n := members(a.errors)
	if n > 0 {
		fields, _ := bson.Fields(a.errors) // it is checked
		if first, _, err := bson.Next(fields); err == nil && first.Type == bson.Document {
			readTold(first.Value, &t)
		}
		return t.fault(fmt.Sprintf("%d of the documents failed, the first one by ", n))
	}
	if a.concern != nil {
		readTold(a.concern, &t)
		return t.fault("the write concern: ")
	}
	return nil
}

// readTold reads the error that a document is.
func readTold(b []byte, t *told) {
	rest, err := bson.Fields(b)
	for err == nil && len(rest) > 0 {
		var e bson.Element
		if e, rest, err = bson.Next(rest); err == nil {
			t.read(&e)
		}
	}
}

// members counts those of an array that is checked.
func members(b []byte) (n uint64) {
	if b == nil {
		return 0
	}
	rest, err := bson.Fields(b)
	for err == nil && len(rest) > 0 {
		if _, rest, err = bson.Next(rest); err == nil {
			n++
		}
	}
	return n
}

// takes takes an answer, and reports whether it ends the operation.
func (c *Conn) takes(b []byte) (done bool, err *http1.Error) {
	var a answer
	if err := a.read(b); err != nil {
		return false, err
	}
	if c.asked.stage == stagePing {
		return true, nil // whatever it says, the server is there
	}
	if c.outcome.Err = a.fault(); c.outcome.Err != nil || c.asked.of.verb != verbReads {
		if c.asked.keeps && c.asked.of.verb != verbReads {
			if c.view = bson.AppendWithin(c.pool.take(), b, c.most); int64(len(c.view)) > c.most {
				return false, errLarge(c.most)
			}
		}
		if c.asked.of.verb == verbWrites {
			c.outcome.Affected = a.affected()
		}
		return true, nil
	}
	if c.asked.stage == stageKill {
		return true, nil
	}
	return c.reads(a.cursor)
}

// affected is how many documents a write changed.
func (a *answer) affected() uint64 {
	if a.modified < 0 {
		return uint64(max(0, a.n))
	}
	return uint64(a.modified) + a.upserted // of an update n are those that it found
}

// cursor is what an answer says of one.
type cursor struct {
	id        int64
	has       bool // an id
	namespace []byte
	batch     []byte // an array
}

// readCursor reads a cursor, whose batch has documents.
func readCursor(b []byte) (c cursor, err *http1.Error) {
	rest, wrong := bson.Fields(b)
	for wrong == nil && len(rest) > 0 {
		var e bson.Element
		if e, rest, wrong = bson.Next(rest); wrong != nil {
			break
		}
		switch string(e.Name) {
		case "id":
			c.id, c.has = e.Whole()
		case "ns":
			c.namespace = e.Text()
		case "firstBatch", "nextBatch":
			if e.Type == bson.Array {
				c.batch = e.Value
			}
		}
	}
	if database, collection := cutNamespace(c.namespace); !c.has || c.batch == nil || len(database) == 0 || len(collection) == 0 || len(c.namespace) > namespaceMost {
		return c, errCursor
	}
	return c, nil
}

const namespaceMost = 1 << 10 // bytes: those of MongoDB have 255

func cutNamespace(b []byte) (database, collection []byte) {
	database, collection, _ = bytes.Cut(b, []byte("."))
	return database, collection
}

// reads takes a batch of a cursor.
func (c *Conn) reads(b []byte) (done bool, err *http1.Error) {
	of, err := readCursor(b)
	if err != nil {
		return false, err
	}
	n := uint64(0)
	rest, _ := bson.Fields(of.batch) // it is checked
	for len(rest) > 0 {
		var e bson.Element
		var wrong error
		if e, rest, wrong = bson.Next(rest); wrong != nil || e.Type != bson.Document {
			return false, errCursor
		}
		n++
		if c.asked.keeps {
			if c.view == nil {
				c.view = c.pool.take()
			}
			c.view = append(c.view, "[,"[min(1, len(c.view))])
			if c.view = e.AppendWithin(c.view, c.most); int64(len(c.view)) > c.most {
				return false, errLarge(c.most)
			}
		}
	}
	c.outcome.Documents += n
	c.outcome.Batches++
	if c.asked.empty++; n > 0 {
		c.asked.empty = 0
	}
	most := c.asked.of.cursor.Batches
	switch {
	case of.id == 0:
		return true, nil
	case c.asked.empty >= emptyMost:
		return false, errFlood
	case most > 0 && c.outcome.Batches >= uint64(most):
		c.kills(of.id, of.namespace)
	default:
		c.asksMore(of.id, of.namespace)
	}
	return false, nil
}
