package otlp

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func TestPartial(t *testing.T) {
	var partial []byte
	partial = protowire.AppendVarint(protowire.AppendTag(partial, partialRejected, protowire.VarintType), 7)
	partial = protowire.AppendString(protowire.AppendTag(partial, partialMessage, protowire.BytesType), "too old")
	body := protowire.AppendBytes(protowire.AppendTag(nil, responsePartial, protowire.BytesType), partial)
	rejected, why, err := Partial(body)
	if rejected != 7 || why != "too old" || err != nil {
		t.Fatal(rejected, why, err)
	}
	if rejected, why, err = Partial(nil); rejected != 0 || why != "" || err != nil {
		t.Fatal("an empty answer takes all", rejected, why, err)
	}
	if _, _, err = Partial(body[:len(body)-1]); err == nil {
		t.Fatal("an answer that is cut is none")
	}
}

// FuzzAnswer: any bytes are an answer or an error, and nothing rejects less than no point.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte{10, 4, 8, 3, 18, 0})
	f.Add([]byte{10, 255, 255, 255, 255, 15})
	f.Add([]byte{8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		if rejected, _, _ := Partial(body); rejected < 0 {
			t.Fatal(rejected)
		}
		_ = Status(body)
	})
}
