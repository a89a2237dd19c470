package frames

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestFramesReturn: what is written is read again, whatever beats and pieces it comes in, and each cut is an error.
func TestFramesReturn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		var want []node.Message
		beats := 0
		for range rapid.IntRange(0, 5).Draw(t, "messages") {
			m := &message.ClusterQuery{Request: message.RequestID{Incarnation: rapid.Uint64().Draw(t, "incarnation"), Counter: rapid.Uint64Min(1).Draw(t, "counter")}}
			for range rapid.IntRange(0, 2).Draw(t, "beats") {
				b = append(b, Beat()...)
				beats++
			}
			var err error
			b, err = Append(b, m)
			require.NoError(t, err)
			want = append(want, m)
			beats++
		}
		heard := 0
		r := NewReader(iotestHalf{bytes.NewReader(b)}, func() { heard++ })
		for _, m := range want {
			got, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, m, node.Message(got))
		}
		_, err := r.Next()
		require.Equal(t, io.EOF, err)
		require.Equal(t, beats, heard)
		if len(b) == 0 {
			return
		}
		cut := rapid.IntRange(1, len(b)-1).Draw(t, "cut")
		r = NewReader(bytes.NewReader(b[:cut]), func() {})
		for err = nil; err == nil; {
			_, err = r.Next()
		}
		require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
	})
}

// iotestHalf gives one byte at a time.
type iotestHalf struct{ r io.Reader }

func (h iotestHalf) Read(p []byte) (int, error) { return h.r.Read(p[:min(len(p), 1)]) }

func TestFramesAreBounded(t *testing.T) {
	r := NewReader(bytes.NewReader([]byte{0, 0x10, 0, 1}), func() {})
	_, err := r.Next()
	require.ErrorIs(t, err, message.ErrFrame)
	require.ErrorContains(t, err, "a frame of 1048577 bytes is above the bound of 1048576")
	one, err := Append(nil, &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
	require.NoError(t, err)
	_, err = NewReader(bytes.NewReader(append(one, 0)), func() {}).Only()
	require.ErrorContains(t, err, "something follows the frame")
	_, err = Append(nil, &message.JobCancel{Reason: string(make([]byte, message.FrameMax))})
	require.ErrorContains(t, err, "above the bound")
}

func TestLastAnswers(t *testing.T) {
	status, end, result := &message.JobStatus{}, &message.WorkflowEnded{}, &message.JobResult{}
	for _, m := range []node.Message{status, end} {
		require.False(t, Last(&message.JobWatch{}, m), "%T", m)
		require.True(t, Last(&message.JobQuery{}, m), "%T", m)
	}
	require.True(t, Last(&message.JobWatch{}, result))
	require.True(t, Last(&message.JobWatch{}, &message.Refused{}))
}

// FuzzRead: no bytes make a reader panic, read on behind an error, or return what does not encode again.
func FuzzRead(f *testing.F) {
	one, err := Append(Beat(), &message.ClusterQuery{Request: message.RequestID{Counter: 1}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b), func() {})
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			if _, err := Append(nil, m); err != nil {
				t.Fatalf("%T: %v", m, err)
			}
		}
	})
}
