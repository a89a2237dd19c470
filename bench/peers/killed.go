package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ledger reads the count that a server of ours keeps in a file.
func ledger(path string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil || len(text) < 8 {
		return 0, fmt.Errorf("read the ledger: %d bytes, %w", len(text), err)
	}
	return binary.NativeEndian.Uint64(text), nil
}

// keepingHTTP3 starts a server of quic-go at a fixed port, which keeps its count in a file.
func keepingHTTP3(b *bench, dir string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "ledger")
	s, err := startBuilt("http3", "count", dir, b.serverCPUs, "-listen", address, "-ledger", path)
	if err != nil {
		return nil, err
	}
	s.Address, s.udp = address, true
	s.count = func() (uint64, error) { return ledger(path) }
	return s, nil
}

// keepingSMTP starts an smtp-sink that appends each message to a file. A message counts once its last line is there.
func keepingSMTP(b *bench, dir string) (*server, error) {
	t, err := b.postfix("smtp-sink")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	mails, args := dir, []string{"-m", "20000"}
	after := func() {}
	if os.Getuid() == 0 {
		args = append(args, "-u", "nobody")                          // it refuses to be root
		if mails, err = os.MkdirTemp("", "smtp-sink-"); err != nil { // and nobody reads the directory of a run
			return nil, err
		}
		folder := mails
		after = func() { _ = os.RemoveAll(folder) } // scratch
		if err := os.Chmod(mails, 0o777); err != nil {
			return nil, err
		}
	}
	mails = filepath.Join(mails, "all")
	s := &server{after: after, cmd: exec.Command(t.Path, append(args, "-D", mails, address, "4096")...), Address: address}
	s.cmd.Env = append(os.Environ(), t.Env...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startOn(s.cmd, b.serverCPUs); err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) {
		text, err := os.ReadFile(mails)
		if errors.Is(err, os.ErrNotExist) {
			return 0, nil // no message has come
		}
		return uint64(bytes.Count(text, []byte("\n"+keptMail))), err
	}
	return s, s.listens()
}

// keptMail is the body of a message that a killed server must keep.
const keptMail = "kept whole"

// keepingFTP starts a vsftpd. Its xferlog outlives it.
func keepingFTP(b *bench, dir string) (*server, error) { return startVSFTPD(dir, b.serverCPUs) }

// keepingSFTP starts an sshd. The log of its files outlives it, and the workflow finds its key beside itself.
func keepingSFTP(b *bench, dir string) (*server, error) { return startSSHD(dir, b.serverCPUs) }

// listens waits until a server takes connections.
func (s *server) listens() error {
	for range 100 {
		if unix.Kill(s.cmd.Process.Pid, 0) == nil && s.connects() == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.Join(fmt.Errorf("nothing listens at %s", s.Address), s.close())
}

// filled is the operation of a mortal, with what its server has in a directory.
func (m mortal) filled(s *server, dir string) (string, error) {
	me, err := user.Current()
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(filepath.Join(dir, "sshd.id"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return strings.NewReplacer("ADDRESS", s.Address, "DIR", dir, "USER", me.Username, "KEY", strconv.Quote(string(key))).Replace(m.step), nil
}
