package console

import (
	"io"
	"sync"
)

// heldMax bounds the output that a screen holds back.
const heldMax = 256 << 10

// Held is a writer for logs that waits while a live screen has the terminal. What
// it holds is bounded: the oldest goes first.
type Held struct {
	mu      sync.Mutex
	to      io.Writer
	holding bool
	waiting []byte
}

// NewHeld writes to w until Hold.
func NewHeld(w io.Writer) *Held { return &Held{to: w} }

// Write implements io.Writer.
func (h *Held) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.holding {
		return h.to.Write(b)
	}
	h.waiting = append(h.waiting, b...)
	if over := len(h.waiting) - heldMax; over > 0 {
		h.waiting = append([]byte(nil), h.waiting[over:]...)
	}
	return len(b), nil
}

// Hold keeps the output until Release.
func (h *Held) Hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = true
}

// Release writes the held output.
func (h *Held) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = false
	_, err := h.to.Write(h.waiting)
	h.waiting = nil
	return err
}
