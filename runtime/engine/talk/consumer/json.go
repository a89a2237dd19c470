package consumer

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"hyperscale/runtime/protocol/kafka"
)

// AppendRecord appends a record to a list in JSON.
func AppendRecord(b []byte, from *kafka.Position, r *kafka.Record) []byte {
	comma := byte(',')
	if len(b) == 0 {
		comma = '['
	}
	b = append(append(append(b, comma), `{"topic":"`...), from.Topic...)
	b = strconv.AppendInt(append(b, `","partition":`...), int64(from.Partition), 10)
	b = strconv.AppendInt(append(b, `,"offset":`...), r.Offset, 10)
	b = strconv.AppendInt(append(b, `,"timestamp":`...), r.Time, 10)
	b = appendData(append(b, `,"key`...), r.Key)
	b = appendData(append(b, `,"value`...), r.Value)
	b = append(b, `,"headers":[`...)
	first := true
	r.Headers(func(name, value []byte) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendData(append(b, `{"name`...), name)
		b = append(appendData(append(b, `,"value`...), value), '}')
	})
	return append(b, "]}"...)
}

// CloseRecords ends a list to which AppendRecord has appended, or one without a record.
func CloseRecords(b []byte) []byte {
	if len(b) == 0 {
		b = append(b, '[')
	}
	return append(b, ']')
}

// appendData ends the name of a field, and appends its value: in base64, and under a name that says so, where
// it is no text.
func appendData(b, data []byte) []byte {
	switch {
	case data == nil:
		return append(b, `":null`...)
	case utf8.Valid(data):
		text, _ := json.Marshal(string(data)) // a text has a form
		return append(append(b, `":`...), text...)
	}
	b = base64.StdEncoding.AppendEncode(append(b, `_base64":"`...), data)
	return append(b, '"')
}
