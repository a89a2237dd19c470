package language

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of one message.
const (
	FrameMax = 8 << 20
	headMax  = 4 << 10
)

// message is a request (ID and Method), a notification (Method) or an answer (ID).
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

// failure is JSON-RPC's error.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error codes of JSON-RPC.
const (
	badMessage    = -32700
	badRequest    = -32600
	unknownMethod = -32601
	badParams     = -32602
)

// readFrame reads the bytes of the next message; io.EOF if there is none.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, head := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		head += len(line)
		switch {
		case errors.Is(err, io.EOF) && head == 0:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("head of a message: %w", io.ErrUnexpectedEOF)
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("head of a message: %w", err)
		case err != nil || head > headMax:
			return nil, fmt.Errorf("head of a message: more than %d bytes", headMax)
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("head of a message: %q is no field", text)
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 0 || n > FrameMax {
				return nil, fmt.Errorf("content-length %q: a message has at most %d bytes", strings.TrimSpace(value), FrameMax)
			}
			length = n
		}
	}
	if length < 0 {
		return nil, errors.New("head of a message: no Content-Length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("body of a message: %w", io.ErrUnexpectedEOF)
	}
	return body, nil
}

// writeFrame writes one message.
func writeFrame(w io.Writer, m *message) error {
	m.Version = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	_, err = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}
