# Stops what one command left in a PID namespace: stop.pl ROOT SIGNAL GRACE_S
#
# Runs in a container of hbench's own that joins the trial's PID namespace, so nothing of the trial's image is used.
# Stopped are ROOT, its session, and what descends from either, seen pass after pass so that a process started
# meanwhile is met too. ROOT itself always goes; another process that holds a listening socket is a service: it
# stays, with its ancestors (but ROOT) and descendants.
use strict;
use warnings;

my ($root, $signal, $grace) = @ARGV;
my %known;    # pid -> start time of every process of the command ever seen: a pid alone may be used again

sub uptime {    # seconds with a fraction, which Perl's own time does not have
    open my $file, '<', '/proc/uptime' or die "stop: /proc/uptime: $!";
    return (split ' ', <$file>)[0];
}

sub processes {
    my %table;
    opendir my $proc, '/proc' or die "stop: /proc: $!";
    for my $pid (grep { /^\d+$/ } readdir $proc) {
        next if $pid == $$;
        open my $file, '<', "/proc/$pid/stat" or next;    # it ended in between
        my $line = do { local $/; <$file> };
        next unless defined $line && $line =~ /^\d+ \(.*\) (\S) (\d+) (\d+) (\d+) (.*)$/s;
        my ($state, $parent, $session, $rest) = ($1, $2, $4, $5);
        next if $state eq 'Z' || $state eq 'X';
        $table{$pid} = { parent => $parent, session => $session, start => (split ' ', $rest)[15] };
    }
    return \%table;
}

sub listening {    # socket inodes that accept connections or datagrams, as this process's namespace shows them
    my ($pid) = @_;
    my %inode;
    for my $kind (['tcp', '0A'], ['tcp6', '0A'], ['udp', '07'], ['udp6', '07']) {
        open my $file, '<', "/proc/$pid/net/$kind->[0]" or next;
        while (my $line = <$file>) {
            my @field = split ' ', $line;
            $inode{ $field[9] } = 1 if @field > 9 && $field[3] eq $kind->[1];
        }
    }
    if (open my $file, '<', "/proc/$pid/net/unix") {
        while (my $line = <$file>) {
            my @field = split ' ', $line;
            $inode{ $field[6] } = 1 if @field > 6 && $field[3] =~ /^[0-9A-F]{8}$/ && hex($field[3]) & 0x10000;
        }
    }
    return \%inode;
}

sub is_service {
    my ($pid) = @_;
    opendir my $dir, "/proc/$pid/fd" or return 0;
    my $inodes;
    for my $fd (readdir $dir) {
        my $target = readlink "/proc/$pid/fd/$fd";
        next unless defined $target && $target =~ /^socket:\[(\d+)\]$/;
        $inodes //= listening($pid);
        return 1 if $inodes->{$1};
    }
    return 0;
}

sub victims {
    my $table = processes();
    my %mine;
    for my $pid (keys %$table) {
        my $p = $table->{$pid};
        $mine{$pid} = 1
          if $pid == $root || $p->{session} == $root || (defined $known{$pid} && $known{$pid} == $p->{start});
    }
    my $grew = 1;
    while ($grew) {
        $grew = 0;
        for my $pid (keys %$table) {
            if (!$mine{$pid} && $mine{ $table->{$pid}{parent} }) { $mine{$pid} = $grew = 1 }
        }
    }
    $known{$_} = $table->{$_}{start} for keys %mine;
    my %spared;
    for my $service (grep { $_ != $root && is_service($_) } keys %mine) {
        for (my $pid = $service ; $mine{$pid} && $pid != $root ; $pid = $table->{$pid}{parent}) { $spared{$pid} = 1 }
        my %below = ($service => 1);
        my $more = 1;
        while ($more) {
            $more = 0;
            for my $pid (keys %mine) {
                if (!$below{$pid} && $below{ $table->{$pid}{parent} }) { $below{$pid} = $more = 1 }
            }
        }
        $spared{$_} = 1 for keys %below;
    }
    return grep { !$spared{$_} } sort { $a <=> $b } keys %mine;
}

my $until = uptime() + $grace;
my @left = victims();
kill $signal, @left if @left;
while (@left && uptime() < $until) {
    select undef, undef, undef, 0.05;
    @left = victims();
}
for (1 .. 200) {
    last unless @left;
    kill 'KILL', @left;
    select undef, undef, undef, 0.02;
    @left = victims();
}
print scalar(@left), "\n";
exit(@left ? 1 : 0);
