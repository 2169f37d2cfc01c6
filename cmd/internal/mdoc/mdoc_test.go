package mdoc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = `.Dd January 1, 2026
.Dt LOGDIR-X 7
.Os
.Sh NAME
.Nm logdir-x
.Nd an example
.Sh DESCRIPTION
A line of
.Em text ,
a flag
.Fl p , -partition Ar list ,
a word in quotes
.Ql a\eb ,
and one
.Pq in Cm brackets .
.Pp
See
.Xr logdir 1 .
.Bl -tag -width Ds
.It Fl o , -offset Ar spec
Where to begin; the text goes on long enough to need a second line of output here.
.It 0
Short.
.El
.Bl -column a b
.It Sy NAME Ta Sy VALUE
.It long-name Ta Ql x
.El
.Bd -literal -offset indent
  a   b
.Ed
.Dl logdir fetch -f '%v\en'
.Ss A part
.Ar topic Ns Oo : Ns Ar parts Oc Ns Op @ Ns Ar broker
.Sh EXIT STATUS
.Bl -tag -width Ds -compact
.It 0
Good.
.It 130
Stopped.
.El
`

const text = `NAME
  logdir-x - an example

DESCRIPTION
  A line of text, a flag -p, --partition list, a word in quotes 'a\b', and one
  (in brackets).

  See logdir(1).

  -o, --offset spec
        Where to begin; the text goes on long enough to need a second line of
        output here.

  0     Short.
    NAME       VALUE
    long-name  'x'
      a   b
    logdir fetch -f '%v\n'

 A part
  topic[:parts][@broker]

EXIT STATUS
  0     Good.
  130   Stopped.
`

func TestText(t *testing.T) {
	got, err := Text(page, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, got); diff != "" {
		t.Error(diff)
	}
}

func TestSection(t *testing.T) {
	got, err := Text(page, "EXIT STATUS")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("0     Good.\n130   Stopped.\n", got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownMacro(t *testing.T) {
	if _, err := Text(".Sh NAME\n.Zz top\n", ""); err == nil || err.Error() != "line 2: unknown macro Zz" {
		t.Errorf("got %v", err)
	}
}
