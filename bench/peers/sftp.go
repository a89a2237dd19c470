package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

const (
	sftpConnections = 16
	sftpSize        = 4 << 10
)

// startSSHD starts an sshd, whose log of files counts those that were read.
func startSSHD(dir string, cpus []int) (*server, error) {
	const program = "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		return nil, errors.New("sshd is missing: apt-get install openssh-server")
	}
	if os.Getuid() == 0 {
		_ = os.MkdirAll("/run/sshd", 0o755) // its package makes it at the system's start
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(dir, "sshd."+name) }
	s := &server{Address: free.Addr().String()}
	if err := free.Close(); err != nil {
		return nil, err
	}
	for _, name := range []string{"host", "id"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(name)).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	config := fmt.Sprintf("ListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nMaxStartups 1000\nSubsystem sftp /usr/lib/openssh/sftp-server -e -l INFO 2>>%s\n", s.Address, at("host"), at("id.pub"), at("log"))
	for name, text := range map[string]string{"config": config, "log": "", "file": strings.Repeat("x", sftpSize)} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	s.cmd = exec.Command(program, "-D", "-e", "-f", at("config"))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) {
		b, err := os.ReadFile(at("log"))
		return uint64(bytes.Count(b, []byte("close \""))), err
	}
	for range 100 {
		if c, err := net.Dial("tcp", s.Address); err == nil {
			return s, c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("sshd does not listen"), s.close())
}

// sftpLoop reads a file over pkg/sftp, a goroutine for each connection.
func sftpLoop(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	for range c.Connections {
		all.Go(func() {
			n, err := sftpReads(c.Address, c.Dir, until)
			if done.Add(n); err != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	return done.Load(), failed.Load(), nil
}

// sftpReads reads with the folder of the server's keys and file.
func sftpReads(address, dir string, until time.Time) (n uint64, err error) {
	key, err := os.ReadFile(filepath.Join(dir, "sshd.id"))
	if err != nil {
		return 0, err
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		return 0, err
	}
	me, err := user.Current()
	if err != nil {
		return 0, err
	}
	conn, err := ssh.Dial("tcp", address, &ssh.ClientConfig{User: me.Username, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	client, err := sftp.NewClient(conn, sftp.MaxConcurrentRequestsPerFile(16), sftp.UseConcurrentWrites(true))
	if err != nil {
		return 0, err
	}
	for ; n%16 != 0 || time.Now().Before(until); n++ {
		f, err := client.Open(filepath.Join(dir, "sshd.file"))
		if err != nil {
			return n, err
		}
		var count discard
		if _, err := f.WriteTo(&count); err != nil || count != sftpSize {
			return n, errors.Join(err, fmt.Errorf("%d bytes", count))
		}
		if err := f.Close(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// discard counts what is written to it.
type discard int

// Write implements io.Writer.
func (d *discard) Write(b []byte) (int, error) {
	*d += discard(len(b))
	return len(b), nil
}

// sftp compares files that are read over SFTP.
func (b *bench) sftp() error {
	s, err := startSSHD(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	key, err := os.ReadFile(filepath.Join(b.dir, "sshd.id"))
	if err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	step := fmt.Sprintf("step(\"get\", sftp.get(sftp.client(\"sftp://%s@%s\", key = %q, host_keys = \"any\"), %q))", me.Username, s.Address, key, filepath.Join(b.dir, "sshd.file"))
	us, err := b.ours("sftp", 1, flow{Name: "sftp", Step: step, VUs: sftpConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "sftp-loop", Address: s.Address, Dir: b.dir, Connections: sftpConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	rows := b.cost("sftp", fmt.Sprintf("%d connections, files of 4 KiB", sftpConnections), s, []contender{us, peer})
	b.bars("1.15", rows, rival{"sftp-loop", 1 / 1.15})
	return nil
}

func (b *bench) takesSFTP() time.Duration { return b.turns(2*b.rounds, b.duration) }
