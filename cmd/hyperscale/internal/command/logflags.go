package command

import (
	"io"
	"log/slog"

	"github.com/spf13/pflag"
)

// LogFlags are those of every command that may log.
type LogFlags struct {
	Level, Format string
}

// Add gives a command the flags; level is the default.
func (f *LogFlags) Add(flags *pflag.FlagSet, level string) {
	AddChoice(flags, &f.Level, "log-level", level, "what to log", "debug", "info", "warn", "error")
	AddChoice(flags, &f.Format, "log-format", "text", "how to log", "text", "json")
}

// Logger is what the flags ask for.
func (f *LogFlags) Logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.Level)) // the flag has let nothing else through
	options := &slog.HandlerOptions{Level: level}
	if f.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
