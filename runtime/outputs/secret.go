package outputs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// secretMax bounds a file that holds a secret: a private key of 16,384 bits has 13 KB.
const secretMax = 64 << 10

// ErrNoSecret says that an option of type secret is not given.
var ErrNoSecret = errors.New("it is not given")

// Secret is where a secret is. It never prints the secret, and reads it anew each time, since secrets rotate.
type Secret struct{ name, file, env string }

// Given says that a file or a variable is named.
func (s Secret) Given() bool { return s.file != "" || s.env != "" }

// String names the source.
func (s Secret) String() string {
	switch {
	case s.file != "":
		return s.name + "_file=" + s.file
	case s.env != "":
		return s.name + "_env=" + s.env
	}
	return s.name + " (not given)"
}

// Read returns the secret without the spaces and line ends around it.
func (s Secret) Read() (string, error) {
	switch {
	case s.file != "":
		f, err := os.Open(s.file)
		if err != nil {
			return "", fmt.Errorf("%s_file: %w: name a file that this user may read", s.name, err)
		}
		defer func() { _ = f.Close() }() // it was only read
		b, err := io.ReadAll(io.LimitReader(f, secretMax+1))
		if err != nil {
			return "", fmt.Errorf("%s_file: %w: name a file that this user may read", s.name, err)
		}
		if len(b) > secretMax {
			return "", fmt.Errorf("%s_file = %q has more than %d bytes: name the file that has the secret alone", s.name, s.file, secretMax)
		}
		return filled(string(b), s)
	case s.env != "":
		v, ok := os.LookupEnv(s.env)
		if !ok {
			return "", fmt.Errorf("%s_env = %q: the environment has no such variable: set it, or use %s_file", s.name, s.env, s.name)
		}
		return filled(v, s)
	}
	return "", fmt.Errorf("%s: %w: add %s_file=FILE or %s_env=VARIABLE", s.name, ErrNoSecret, s.name, s.name)
}

func filled(text string, s Secret) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("%s is empty: put the secret there", s)
	}
	return text, nil
}
