//go:build !linux

package epoll

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// errElsewhere is why New fails where there is no epoll. Without a set nothing else of this file is called.
var errElsewhere = fmt.Errorf("open an epoll set: only Linux has it: %w", errors.ErrUnsupported)

const (
	In    uint32 = 0x1
	Pri   uint32 = 0x2
	Out   uint32 = 0x4
	Err   uint32 = 0x8
	Hup   uint32 = 0x10
	RdHup uint32 = 0x2000
	Edge  uint32 = 1 << 31
)

const (
	WakeToken = ^uint64(0)
	Forever   = time.Duration(-1)
)

type Event struct{ Events uint32 }

func (*Event) Token() uint64  { return WakeToken }
func (*Event) Readable() bool { return false }
func (*Event) Writable() bool { return false }

type Poller struct{}

func New() (*Poller, error) { return nil, errElsewhere }

func (*Poller) Close() error                              { return nil }
func (*Poller) File() (*os.File, error)                   { return nil, errElsewhere }
func (*Poller) Add(int, uint32, uint64) error             { return errElsewhere }
func (*Poller) Mod(int, uint32, uint64) error             { return errElsewhere }
func (*Poller) Del(int) error                             { return errElsewhere }
func (*Poller) Wake() error                               { return errElsewhere }
func (*Poller) Rest([]Event, time.Duration) (int, error)  { return 0, errElsewhere }
func (*Poller) Wait([]Event, time.Duration) (int, error)  { return 0, errElsewhere }
func (*Poller) Block([]Event, time.Duration) (int, error) { return 0, errElsewhere }
func (*Poller) Doze([]Event, time.Duration) (int, error)  { return 0, errElsewhere }

func Dial(netip.AddrPort, netip.Addr) (int, bool, error)      { return -1, false, errElsewhere }
func DialQuiet(netip.AddrPort, netip.Addr) (int, bool, error) { return -1, false, errElsewhere }
func Datagrams(netip.AddrPort, netip.Addr) (int, error)       { return -1, errElsewhere }
func Read(int, []byte) (int, syscall.Errno)                   { return 0, syscall.ENOTSUP }
func Write(int, []byte) (int, syscall.Errno)                  { return 0, syscall.ENOTSUP }
func Ends(int) (l netip.Addr, p netip.AddrPort, err error)    { return l, p, errElsewhere }
func Accept(int) (int, error)                                 { return -1, errElsewhere }
func Drops(int) (uint32, error)                               { return 0, errElsewhere }
func Connected(int) error                                     { return errElsewhere }
func NoDelay(int) error                                       { return errElsewhere }
func Unsent(int) int                                          { return 0 }
func Close(int)                                               {}
func CloseWrite(int)                                          {}
