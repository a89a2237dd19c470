package command

import (
	"context"
	"log/slog"
)

// Lower makes a node's warnings news: a command that the node serves says itself, in a sentence,
// what matters to a person.
func Lower(l *slog.Logger) *slog.Logger { return slog.New(lower{l.Handler()}) }

type lower struct{ slog.Handler }

func lowered(level slog.Level) slog.Level {
	if level == slog.LevelWarn {
		return slog.LevelInfo
	}
	return level
}

// Enabled implements slog.Handler.
func (h lower) Enabled(ctx context.Context, level slog.Level) bool {
	return h.Handler.Enabled(ctx, lowered(level))
}

// Handle implements slog.Handler.
func (h lower) Handle(ctx context.Context, r slog.Record) error {
	r.Level = lowered(r.Level)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h lower) WithAttrs(attrs []slog.Attr) slog.Handler { return lower{h.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (h lower) WithGroup(name string) slog.Handler { return lower{h.Handler.WithGroup(name)} }
