package smtp

import (
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// Operation is a message, compiled before the clock runs. It refers to no connection and does not change.
type Operation struct {
	message  Message
	commands []byte // MAIL, RCPT and DATA; nil: values stand in them
	ends     []int  // of commands: where each ends
	rest     []byte // of the message: see Message.appendRest; nil: values stand in it
	cuts     []cut  // of rest
	dated    bool   // it brings a Date
	named    bool   // it brings a Message-ID
}

// Compile makes an operation of a message, which has a recipient. Its error is that of a text that can
// never go out.
func Compile(m Message) (*Operation, error) {
	if len(m.Attachments) > 0 {
		m.Attachments = slices.Clone(m.Attachments)
		m.divide()
	}
	o := &Operation{message: m, dated: m.has("Date"), named: m.has("Message-ID")}
	if m.open() {
		return o, nil
	}
	var err *http1.Error
	if o.commands, o.ends, err = o.appendCommands(nil, nil, nil); err != nil {
		return nil, err
	}
	if o.rest, o.cuts, err = m.appendRest(nil, nil); err != nil {
		return nil, err
	}
	return o, nil
}

// Encode encodes its attachments now, not when a message sends them first.
func (o *Operation) Encode() {
	for _, a := range o.message.Attachments {
		if a.Data != nil {
			a.Data.whole()
		}
	}
}

// appendCommands appends the commands of an operation, and where each ends.
func (o *Operation) appendCommands(dst []byte, ends []int, values [][]byte) ([]byte, []int, *http1.Error) {
	dst, err := appendAddress(append(dst, "MAIL FROM:"...), o.message.From, values, "sender")
	if err != nil {
		return dst, ends, err
	}
	dst = append(dst, "\r\n"...)
	ends = append(ends, len(dst))
	for _, a := range o.message.To {
		if dst, err = appendAddress(append(dst, "RCPT TO:"...), a, values, "to"); err != nil {
			return dst, ends, err
		}
		dst = append(dst, "\r\n"...)
		ends = append(ends, len(dst))
	}
	dst = append(dst, "DATA\r\n"...)
	return dst, append(ends, len(dst)), nil
}

// text is a message as it goes out, with its end.
type text struct {
	bytes []byte // nil: there is none
	from  int    // in bytes: where the places of the cuts begin
	cuts  []cut  // the files that stand in it
}

// appendMessage makes the message as it goes out, in the memory of dst.
func (o *Operation) appendMessage(dst []byte, with *Order) (text, *http1.Error) {
	if !o.dated {
		dst = append(append(append(dst, "Date: "...), with.Date...), "\r\n"...)
	}
	if !o.named {
		dst = append(append(append(dst, "Message-ID: <"...), with.ID...), "@hyperscale>\r\n"...)
	}
	t := text{from: len(dst)}
	if o.rest != nil {
		t.bytes, t.cuts = append(dst, o.rest...), o.cuts
		return t, nil
	}
	var err *http1.Error
	t.bytes, t.cuts, err = o.message.appendRest(dst, with.Values)
	return t, err
}

// Recipients is how many it has.
func (o *Operation) Recipients() int { return len(o.message.To) }

// Show appends a line about an operation that goes out.
func (o *Operation) Show(dst []byte, values [][]byte) []byte {
	dst = o.message.From.Fill(append(dst, "MAIL FROM:<"...), values)
	dst = o.message.To[0].Fill(append(dst, "> RCPT TO:<"...), values)
	dst = append(dst, '>')
	if n := len(o.message.To) - 1; n > 0 {
		dst = append(strconv.AppendInt(append(dst, " and "...), int64(n), 10), " more"...)
	}
	if o.message.Subject != nil {
		dst = o.message.Subject.Fill(append(dst, ": "...), values)
	}
	for i := range o.message.Attachments {
		dst = append(append(dst, " + "...), o.message.Attachments[i].Name...)
	}
	return dst
}

// recipient returns the address of a recipient.
func (o *Operation) recipient(i int, values [][]byte) string {
	return reply.Clip(o.message.To[i].Fill(nil, values))
}
