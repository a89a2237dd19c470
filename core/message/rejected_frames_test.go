package message_test

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// drawn is a valid message of a random kind.
func drawn(t *rapid.T) message.Body {
	k := rapid.SampledFrom(message.Kinds()).Draw(t, "kind")
	return filled(k, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
}

// Decode rejects each proper prefix of a frame, another header, and a frame with a tail;
// DecodePrefix returns that tail.
func TestDecodeTakesAWholeFrameAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawn(t)
		frame, err := message.Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, b []byte) {
			if got, err := message.Decode(b); !errors.Is(err, message.ErrFrame) {
				t.Fatalf("%s with %s: got %v and error %v, want ErrFrame", message.Name(m.Kind()), what, got, err)
			}
		}
		cut := rapid.IntRange(0, len(frame)-1).Draw(t, "cut")
		refused(fmt.Sprintf("%d of %d bytes", cut, len(frame)), frame[:cut])

		header := slices.Clone(frame)
		header[0] = rapid.ByteRange(1, 255).Draw(t, "flags")
		refused("unknown flags", header)
		unknown := node.Kind(rapid.Uint16().Draw(t, "unknown kind"))
		if !slices.Contains(message.Kinds(), unknown) {
			refused("an unknown kind", append([]byte{0, byte(unknown >> 8), byte(unknown)}, frame[message.HeaderSize:]...))
		}

		tail := rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "tail")
		long := append(slices.Clone(frame), tail...)
		refused("a tail", long)
		got, rest, err := message.DecodePrefix(long)
		if err != nil || got.Digest() != m.Digest() || string(rest) != string(tail) {
			t.Fatalf("%s before %x: got rest %x and error %v", message.Name(m.Kind()), tail, rest, err)
		}
	})
}

// missing is the model of check: it reads the tags, field by field from the outermost inwards.
func missing(v reflect.Value) string {
	if v.Type() == reflect.TypeFor[message.SwimNews]() {
		switch {
		case v.FieldByName("Node").IsZero():
			return "node"
		case v.FieldByName("Incarnation").IsZero():
			return "incarnation"
		}
		return ""
	}
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("msg"), ",")
		if tag.Get("require") == "true" && v.Field(i).IsZero() {
			return name
		}
		if inner := missingWithin(v.Field(i)); inner != "" {
			return name + "." + inner
		}
	}
	return ""
}

func missingWithin(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Struct:
		return missing(v)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			if inner := missing(v.Index(i)); inner != "" {
				return inner
			}
		}
	}
	return ""
}

// Decode names the first required field that a message lacks, by its whole path, and
// accepts every message that lacks none.
func TestDecodeNamesTheFirstMissingField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawn(t)
		visit(reflect.ValueOf(m).Elem(), "", func(path string, v reflect.Value) {
			if rapid.IntRange(0, 9).Draw(t, path) == 0 {
				v.SetZero()
			}
		})
		want := missing(reflect.ValueOf(m).Elem())
		_, _, err := message.Clone(m, nil)
		var lacks *message.MissingError
		switch {
		case want == "" && err == nil:
		case want == "":
			t.Fatalf("%s lacks nothing: %v", message.Name(m.Kind()), err)
		case !errors.As(err, &lacks) || lacks.Path != want || !errors.Is(err, message.ErrFrame) || !strings.Contains(err.Error(), want):
			t.Fatalf("%s: got %v, want a missing %q", message.Name(m.Kind()), err, want)
		}
	})
}

// Append encodes a message up to FrameMax bytes with its header, and none above.
func TestAppendBoundsAFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := filled(message.KindJobSubmit, counting()).(*message.JobSubmit)
		m.Program.Files = []message.File{{Name: "a.star", Data: make([]byte, message.FrameMax/2)}}
		frame := message.FrameMax + rapid.OneOf(rapid.IntRange(-2, 2), rapid.IntRange(-1000, 1000)).Draw(t, "beyond")
		m.Program.Files[0].Data = make([]byte, message.FrameMax/2+frame-message.HeaderSize-m.Size())
		b, _, err := message.Clone(m, nil)
		if (err == nil) != (frame <= message.FrameMax) || err == nil && b.Size()+message.HeaderSize != frame {
			t.Fatalf("a frame of %d bytes: %v", frame, err)
		}
	})
	if _, err := message.Append(nil, foreign{}); err == nil || !strings.Contains(err.Error(), "not in the catalogue") {
		t.Errorf("a foreign message: got %v", err)
	}
}

// foreign is a message outside of the catalogue.
type foreign struct{}

func (foreign) Kind() node.Kind         { return 1 }
func (foreign) Priority() node.Priority { return node.Low }
func (foreign) Size() int               { return 1 }
func (foreign) Full() node.Full {
	return node.Keep
}
func (foreign) Subject() uint64 {
	return 0
}
func (foreign) Digest() uint64 { return 0 }

// A list of news survives its codec. Decode reads each prefix of it as its first pieces or
// rejects it: no cut invents a piece. It rejects empty lists, and lists above their bound.
func TestCutNewsAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64())
		word := rapid.StringMatching(`[a-z]{0,3}`)
		news := rapid.Custom(func(t *rapid.T) message.SwimNews {
			return message.SwimNews{
				Node: word.Draw(t, "node"), Addr: word.Draw(t, "addr"), Role: uint8(rapid.IntRange(0, 6).Draw(t, "role")), Incarnation: number.Draw(t, "incarnation"),
				State: rapid.Byte().Draw(t, "state"), By: rapid.StringMatching(`([a-z]{2,4})?`).Draw(t, "by"),
				Age: rapid.SampledFrom([]time.Duration{0, 0, 0, 1, -1, time.Millisecond, 90 * time.Second, 1<<63 - 1, -1 << 63}).Draw(t, "age"),
			}
		})
		list := message.SwimNewsList(rapid.SliceOfN(news, 1, 4).Draw(t, "news"))
		whole, err := list.MarshalMsg(nil)
		if err != nil {
			t.Fatal(err)
		}
		packed, _, err := msgp.ReadBytesZC(whole)
		if err != nil {
			t.Fatal(err)
		}
		ends := map[int]int{len(packed): len(list)} // by length in bytes: the number of pieces that end there
		at := 0
		for i := range list {
			ends[at] = i
			at += list[i].Bytes()
		}
		if at != len(packed) {
			t.Fatalf("pieces have %d bytes, the list %d", at, len(packed))
		}
		var got message.SwimNewsList
		for cut := range len(packed) + 1 {
			_, err := got.UnmarshalMsg(msgp.AppendBytes(nil, packed[:cut]))
			n := ends[cut]
			if (err == nil) != (n > 0) || err == nil && !slices.Equal(got, list[:n]) {
				t.Fatalf("%d of %d bytes: got %+v and error %v, want the first %d of %+v", cut, len(packed), got, err, n, list)
			}
		}
		if _, err := got.UnmarshalMsg(whole[:len(whole)-1]); err == nil {
			t.Fatal("a list whose string is cut was read")
		}
	})
	many := make(message.SwimNewsList, 4097)
	for i := range many {
		many[i] = message.SwimNews{Node: "a", Incarnation: 1}
	}
	for _, r := range []struct {
		n  int
		ok bool
	}{{4096, true}, {4097, false}} {
		b, err := many[:r.n].MarshalMsg(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got message.SwimNewsList
		if _, err := got.UnmarshalMsg(b); (err == nil) != r.ok {
			t.Errorf("%d pieces: %v", r.n, err)
		}
	}
}

// Distinct values of an enumeration have distinct names: words for its constants, and
// for any other number a text with that number.
func TestEnumerationsHaveDistinctNames(t *testing.T) {
	word := regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]struct {
			name string
			last uint8
			text func(uint8) string
		}{
			{"job state", uint8(message.JobTimedOut), func(v uint8) string { return message.JobState(v).String() }},
			{"workflow state", uint8(message.WorkflowTimedOut), func(v uint8) string { return message.WorkflowState(v).String() }},
			{"worker state", uint8(message.WorkerLost), func(v uint8) string { return message.WorkerState(v).String() }},
			{"health", uint8(message.HealthUnhealthy), func(v uint8) string { return message.Health(v).String() }},
		}).Draw(t, "kind")
		value := rapid.OneOf(rapid.ByteRange(0, kind.last+1), rapid.Byte())
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		if (kind.text(a) == kind.text(b)) != (a == b) {
			t.Fatalf("%ss %d and %d are %q and %q", kind.name, a, b, kind.text(a), kind.text(b))
		}
		if word.MatchString(kind.text(a)) != (a <= kind.last) || a > kind.last && !strings.HasSuffix(kind.text(a), fmt.Sprintf("_%d", a)) {
			t.Fatalf("%s %d of %d is %q", kind.name, a, kind.last, kind.text(a))
		}
	})
}

// Codes lists each code that has a text and a remedy; any other number is unknown, and no
// reason to retry.
func TestCodesListWhatHasAnEntry(t *testing.T) {
	unknown := message.Code(1<<16 - 1)
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.OneOf(rapid.SampledFrom(message.Codes()), rapid.Custom(func(t *rapid.T) message.Code { return message.Code(rapid.Uint16Range(0, 60).Draw(t, "number")) }))
		a, b := code.Draw(t, "a"), code.Draw(t, "b")
		listed := slices.Contains(message.Codes(), a)
		if listed != (a.String() != unknown.String()) || a.Remedy() == "" {
			t.Fatalf("code %d is listed: %v, and says %q: %s", a, listed, a, a.Remedy())
		}
		if !listed && (a.Retryable() || a.Remedy() != unknown.Remedy()) {
			t.Fatalf("unknown code %d can be retried, or says %q", a, a.Remedy())
		}
		if listed && a != b && a.String() == b.String() {
			t.Fatalf("codes %d and %d both say %q", a, b, a)
		}
	})
}
